// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include <cairn/activity/operator.hpp>
#include <cairn/activity/shape.hpp>
#include <cairn/am/reduce.hpp>
#include <cairn/base/contract.hpp>

namespace cairn::activity {

/// Mirrors of remote cells: the effect of the messages that were sent to each. A message changes a
/// mirror as it changes its cell, by `wanted` and `attempt`. If a cell wants one message only
/// (`once`), a mark records whether the message was sent.
///
/// A worker has mirrors of its own, in a table of the reduce stage. If the operator's refusals are
/// permanent, the ranks of a machine may share one set of mirrors for what they send. For messages
/// of others that it forwards, a worker has only its own.
///
/// A mirror begins as the map's initial(), whatever the cell holds by then. A message that a cell
/// may want must therefore be wanted by initial() too.
///
/// All cells of the operator belong to one map. Elements of two maps have the same ids, so one
/// mirror would get the messages of both.
///
/// Memory     that of am::mirror_table, allocated at the first message; for an operator with `once`
///            a byte per element of the map instead, if that is at most 8 bytes per entry.
///            Shared mirrors: a value, or with `once` a byte, per element of the map and machine
template <single_cell Op>
class sent_filter {
  using value = cell_value_t<Op>;
  using message = typename Op::message;

 public:
  sent_filter() = default;
  explicit sent_filter(std::size_t entries) : marks_(8 * entries), mirrors_(entries) {}

  [[nodiscard]] bool enabled() const noexcept { return mirrors_.enabled(); }

  enum class mark : bool { not_sent, sent };
  using shared_mirror = std::conditional_t<once<Op>, mark, value>;
  /// Uses these mirrors, one per element of the map, which other filters use too, instead of
  /// mirrors of its own. For `once` they begin as not_sent, else as the map's initial value.
  void share(std::span<shared_mirror> mirrors) requires permanent<Op> {
    shared_ = am::shared_mirrors<shared_mirror>(mirrors);
  }
  [[nodiscard]] bool shares() const noexcept { return shared_.enabled(); }

  /// Whether `m`, sent to the cell at `where`, may still take effect there.
  template <class Place>
  [[nodiscard, gnu::always_inline]] bool passes(const Op& op, const Place& where,
                                                const message& m) {
    if constexpr (permanent<Op>) {
      if (shared_.enabled()) {
        expect_one_map(where);
        return shared_.offer(policy<Place>{op, where}, m) == am::offered::passed;
      }
    }
    return passes_own(op, where, m);
  }
  /// The same by mirrors of this worker, for a message that it forwards: shared mirrors show the
  /// message already.
  template <class Place>
  [[nodiscard, gnu::always_inline]] bool passes_own(const Op& op, const Place& where,
                                                    const message& m) {
    expect_one_map(where);
    if constexpr (once<Op>) {
      if (marks_.reserve(where.map->size())) return marks_.offer(where.id) == am::offered::passed;
    }
    return mirrors_.offer(policy<Place>{op, where}, m) == am::offered::passed;
  }

  /// Clears the table if `epoch` is not the one that was mirrored last, unless the operator's
  /// refusals are permanent.
  void enter(std::uint64_t epoch) {
    if constexpr (!permanent<Op>) {
      if (std::exchange(epoch_, epoch) != epoch) mirrors_.forget();
    }
  }

 private:
  template <class Place>
  void expect_one_map(const Place& where) {
    if constexpr (checked) {
      if (map_ == nullptr) map_ = where.map;
      CAIRN_ASSERT(where.map == map_);
    }
  }

  template <class Place>
  struct policy {
    const Op& op;
    const Place& where;

    std::uint64_t key(const message&) const { return where.id; }
    std::uint64_t keys() const { return where.map->size(); }
    value initial() const { return where.map->initial(); }
    bool offer(value& mirror, const message& m) const {
      if (!op.wanted(mirror, m)) return false;
      detail::attempt(op, tm::cell_ref<value, tm::plain_access>(mirror), m);
      return true;
    }
    bool offer(mark& before, const message&) const requires once<Op> {
      return std::exchange(before, mark::sent) == mark::not_sent;
    }
  };

  struct no_marks {
    no_marks() = default;
    explicit no_marks(std::size_t /*max_bytes*/) {}
  };
  [[no_unique_address]] std::conditional_t<once<Op>, am::sent_marks, no_marks> marks_;
  am::mirror_table<value, !permanent<Op>> mirrors_;
  am::shared_mirrors<shared_mirror> shared_;
  const void* map_ = nullptr;  // the map whose cells are mirrored; in checked builds
  std::uint64_t epoch_ = 0;
};

/// Operators whose filter the ranks of a machine may share. Their map is found by cell(message{}).
template <class Op>
concept shares_filter =
    filtered<Op> && permanent<Op> && !combining<Op> &&
    std::default_initializable<typename Op::message> &&
    std::atomic_ref<typename sent_filter<Op>::shared_mirror>::is_always_lock_free;

struct no_filter {};
template <class Op>
struct sent_filter_for {
  using type = no_filter;
};
template <filtered Op>
struct sent_filter_for<Op> {
  using type = sent_filter<Op>;
};
template <class Op>
using sent_filter_of = typename sent_filter_for<Op>::type;

}  // namespace cairn::activity
