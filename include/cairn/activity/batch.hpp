// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include <cairn/activity/mechanism.hpp>
#include <cairn/activity/shape.hpp>

namespace cairn::activity {

/// Storage for the operators of one group: their messages, the origins of the messages, and the
/// results. The arrays are uninitialised, because constructing them costs more than a short span.
/// The capacity is smaller for large messages; it is at least one.
template <class Op>
class group_room {
 public:
  using message = typename Op::message;
  struct entry {
    message m;
    run_of<Op> ran;
    [[no_unique_address]] origin<Op> from;
  };
  static_assert(std::is_trivially_copyable_v<entry> && std::is_trivially_destructible_v<entry>);

  static constexpr std::size_t max_bytes = std::size_t{64} << 10;
  /// Maximum number of operators in a group.
  static constexpr std::size_t size =
      std::clamp<std::size_t>(max_bytes / sizeof(entry), 1, max_grain);

  group_room() : memory_(::operator new(size * sizeof(entry), alignment)) {}
  ~group_room() { ::operator delete(memory_, alignment); }
  group_room(const group_room&) = delete;
  group_room& operator=(const group_room&) = delete;

  [[nodiscard]] message* messages() const noexcept { return reinterpret_cast<message*>(at(0)); }
  [[nodiscard]] run_of<Op>* results() const noexcept {
    return reinterpret_cast<run_of<Op>*>(at(rounded<run_of<Op>>(size * sizeof(message))));
  }
  [[nodiscard]] origin<Op>* origins() const noexcept {
    const auto after = rounded<run_of<Op>>(size * sizeof(message)) + size * sizeof(run_of<Op>);
    return reinterpret_cast<origin<Op>*>(at(rounded<origin<Op>>(after)));
  }

 private:
  // Three arrays: alignof(entry) bounds the padding between two of them.
  static constexpr std::align_val_t alignment{std::max<std::size_t>(alignof(entry), 64)};
  template <class T>
  static constexpr std::size_t rounded(std::size_t bytes) noexcept {
    return (bytes + alignof(T) - 1) / alignof(T) * alignof(T);
  }
  [[nodiscard]] std::byte* at(std::size_t bytes) const noexcept {
    return static_cast<std::byte*>(memory_) + bytes;
  }

  void* memory_;
};

/// One worker's group rooms, one for each open batch: an answer may open a second batch. A room is
/// allocated when it is first needed, and reused.
template <class Op>
class group_rooms {
 public:
  class lease {
   public:
    explicit lease(group_rooms& from) : from_(&from), room_(from.take()) {}
    ~lease() { from_->spare_.push_back(std::move(room_)); }
    lease(const lease&) = delete;
    lease& operator=(const lease&) = delete;
    [[nodiscard]] const group_room<Op>& operator*() const noexcept { return *room_; }

   private:
    group_rooms* from_;
    std::unique_ptr<group_room<Op>> room_;
  };

 private:
  std::unique_ptr<group_room<Op>> take() {
    if (spare_.empty()) {
      spare_.reserve(++made_);  // push_back in ~lease must not throw
      return std::make_unique<group_room<Op>>();
    }
    auto room = std::move(spare_.back());
    spare_.pop_back();
    return room;
  }

  std::vector<std::unique_ptr<group_room<Op>>> spare_;
  std::size_t made_ = 0;
};

namespace detail {
struct no_lease {
  explicit no_lease(auto&) {}
};
}  // namespace detail

/// Runs the operators of one span by one mechanism: each at once, or in groups of `grain`.
///
/// Commit       commit.hpp
/// Thread-safety: one worker
template <class Op, class Commit>
class batch {
 public:
  using message = typename Op::message;

  batch(Commit commit, group_rooms<Op>& rooms, std::size_t grain) : commit_(commit), room_(rooms) {
    if constexpr (Commit::collects) {
      messages_ = (*room_).messages();
      results_ = (*room_).results();
      origins_ = (*room_).origins();
      grain_ = std::min(grain, group_room<Op>::size);
    }
  }

  /// Runs an operator at once.
  [[gnu::always_inline]] run_of<Op> one(const Op& op, const message& m) const
      requires(!Commit::collects) {
    return commit_.one(op, m);
  }

  /// Appends a message. Returns whether the group is full, so that run() must be called.
  [[gnu::always_inline]] bool add(const message& m,
                                  const origin<Op>& from) requires Commit::collects {
    if constexpr (fire_and_return<Op>) origins_[size_] = from;
    std::memcpy(static_cast<void*>(messages_ + size_), &m, sizeof m);
    return ++size_ >= grain_;
  }

  /// Runs the appended messages, then calls settle(message, from, ran) for each. If an operator
  /// throws, none of its group is settled, not even those that a split transaction had already
  /// committed.
  template <class Settle>
  void run(const Op& op, Settle settle) requires Commit::collects {
    const auto n = std::exchange(size_, 0);
    if (n == 0) return;
    activities_ += commit_.group(op, messages_, n, results_);
    for (std::size_t i = 0; i < n; ++i) settle(messages_[i], origin_of(i), results_[i]);
  }

  /// Whether groups are transactions.
  [[nodiscard]] bool transactional() const noexcept {
    if constexpr (Commit::collects) return commit_.transactional();
    return false;
  }
  /// Transactions that committed.
  [[nodiscard]] std::uint64_t activities() const noexcept { return activities_; }

 private:
  using lease =
      std::conditional_t<Commit::collects, typename group_rooms<Op>::lease, detail::no_lease>;

  [[nodiscard]] origin<Op> origin_of(std::size_t i) const {
    if constexpr (fire_and_return<Op>) return origins_[i];
    return {};
  }

  Commit commit_;
  [[no_unique_address]] lease room_;
  message* messages_ = nullptr;
  run_of<Op>* results_ = nullptr;
  origin<Op>* origins_ = nullptr;
  std::size_t grain_ = 1, size_ = 0;
  std::uint64_t activities_ = 0;
};

}  // namespace cairn::activity
