// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <cairn/base/contract.hpp>
#include <cairn/core/world.hpp>
#include <cairn/pgas/partition.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/traverse/bit_set.hpp>
#include <cairn/traverse/chunk.hpp>
#include <cairn/traverse/gathered_bits.hpp>
#include <cairn/traverse/vertex_list.hpp>

namespace cairn::traverse {

/// The vertices of the current superstep, and the vertices added for the next one. Both are stored
/// as a list of own vertices or as bits, and converted on request.
///
/// A vertex is added at most once in the lifetime of a frontier.
///
/// Memory    per rank: n/P ids; on first request bits of own vertices, and gathered_bits
/// Thread-safety: add() by worker k; the others by worker 0 while no worker adds.
template <class Id>
class frontier {
 public:
  /// How added vertices are stored: a list, bits whose words have one writer each, or bits whose
  /// words several workers write.
  enum class form { list, bits, shared_bits };

  frontier(world& w, const pgas::partition& vertices)
      : w_(w),
        first_(vertices.first(w.rank())),
        own_(vertices.size(w.rank())),
        list_(w, own_),
        all_(w, vertices),
        added_(w.workers()) {}

  /// Adds own vertex v to the next superstep.
  [[gnu::always_inline]] void add(worker_t k, Id v) {
    if (next_form_ == form::list) [[likely]]
      return list_.add(k, v);
    if (next_form_ == form::shared_bits) return add_shared(k, v);
    next_.set(v - first_);
    ++added_[k];
  }

  /// Makes the added vertices the frontier. Returns the number of own vertices.
  std::size_t begin_superstep() {
    if (next_form_ == form::list) {
      size_ = list_.slide().size();
      form_ = form::list;
    } else {
      size_ = 0;
      for (auto& a : added_) size_ += std::exchange(a.value, 0);
      std::swap(now_, next_);
      form_ = form::bits;
    }
    next_form_ = form::list;
    has_all_ = false;
    return size_;
  }
  /// Adds the vertices added since begin_superstep() to the frontier. Both are lists. Returns the
  /// number of own vertices.
  std::size_t extend() {
    CAIRN_ASSERT(form_ == form::list && next_form_ == form::list);
    list_.extend();
    has_all_ = false;
    return size_ = list_.window().size();
  }

  /// The number of own vertices in the frontier.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool is_list() const noexcept { return form_ == form::list; }
  /// Sets how the next frontier is stored; the default is a list. Called before vertices are added.
  void keep_next_as(form f) {
    next_form_ = f;
    if (f == form::list) return;
    if (next_.empty()) next_ = bit_set(w_, own_);
    next_.clear();
  }

  /// The own vertices of a frontier that is a list, in unspecified order.
  [[nodiscard]] std::span<const Id> window() const { return list_.window(); }
  /// The own vertices as a list, converted if necessary.
  [[nodiscard]] std::span<const Id> list() {
    if (form_ == form::list) return list_.window();
    const auto words = now_.words().size();
    w_.parallel_for(
        words,
        [&](worker_t k, std::size_t begin, std::size_t end) {
          now_.for_each(begin, end,
                        [&](std::size_t i) { list_.add(k, static_cast<Id>(first_ + i)); });
        },
        chunk_of(w_, words, 16));
    form_ = form::list;
    return list_.slide();
  }
  /// Bits of the own vertices, by local position. Requires that the frontier is not a list.
  [[nodiscard]] const bit_set& own_bits() const noexcept { return now_; }

  /// Bits of the vertices of all ranks, by id. Collective, except after gather_and_sum().
  [[nodiscard]] const std::uint64_t* bits_of_all() {
    if (!has_all_) gather_and_sum({});
    return w_.size() == 1 ? std::as_const(now_).words().data() : all_.words();
  }
  /// Prepares bits_of_all() and replaces `sums` by their sums over all ranks, in one collective.
  void gather_and_sum(std::span<std::uint64_t> sums) {
    if (form_ == form::list) {
      if (now_.empty()) now_ = bit_set(w_, own_);
      now_.clear();
      set_bits(list_.window());
    }
    if (w_.size() == 1) return;
    all_.gather(std::as_const(now_).words(), sums);
    has_all_ = true;
  }
  /// Whether gather_and_sum() takes about as long as the sums alone.
  [[nodiscard]] bool gather_is_cheap() const { return all_.is_cheap(); }

 private:
  void set_bits(std::span<const Id> list) {
    constexpr double ns_each = 2, ns_worth_sharing = 100'000;
    const auto set_alone = [&](std::span<const Id> part) {
      for (const Id v : part) now_.set(v - first_);
    };
    if (static_cast<double>(list.size()) * ns_each < ns_worth_sharing) return set_alone(list);
    w_.parallel_for(
        list.size(),
        [&](worker_t, std::size_t begin, std::size_t end) {
          const auto part = list.subspan(begin, end - begin);
          if (w_.workers() == 1) return set_alone(part);
          for (const Id v : part) now_.set_shared(v - first_);
        },
        w_.workers() == 1 ? 1 << 14 : chunk_of(w_, list.size(), 2 * ns_each));
  }
  // Not inlined, so that loops over edges keep their values in registers.
  [[gnu::noinline]] void add_shared(worker_t k, Id v) {
    next_.set_shared(v - first_);
    ++added_[k];
  }

  world& w_;
  const std::uint64_t first_, own_;
  vertex_list<Id> list_;
  bit_set now_, next_;  // of own vertices
  gathered_bits all_;
  bool has_all_ = false;  // all_ has the bits of the current frontier
  form form_ = form::list, next_form_ = form::list;
  task::per_worker<std::size_t> added_;  // vertices added to the bits
  std::size_t size_ = 0;
};

}  // namespace cairn::traverse
