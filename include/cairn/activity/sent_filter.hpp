// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <cairn/activity/shape.hpp>
#include <cairn/am/reduce.hpp>
#include <cairn/base/contract.hpp>

namespace cairn::activity {

/// One worker's mirrors of remote cells, in a table of the stage `reduce`: what this worker has
/// sent to each. A mirror takes messages as its cell does, by `wanted` and `attempt`.
///
/// The operator's cells are of one map. (Two maps have the same ids: a mirror would take the
/// messages of both.)
///
/// Memory     that of am::mirror_table, taken at the first message
template <single_cell Op>
class sent_filter {
  using value = cell_value_t<Op>;
  using message = typename Op::message;

 public:
  sent_filter() = default;
  explicit sent_filter(std::size_t entries) : mirrors_(entries) {}

  [[nodiscard]] bool enabled() const noexcept { return mirrors_.enabled(); }

  /// True if `m`, for the cell at `where`, may still take effect there.
  template <class Place>
  [[nodiscard, gnu::always_inline]] bool passes(const Op& op, const Place& where,
                                                const message& m) {
    if constexpr (checked) {
      if (map_ == nullptr) map_ = where.map;
      CAIRN_ASSERT(where.map == map_);
    }
    return mirrors_.offer(policy<Place>{op, where}, m) == am::offered::passed;
  }

  /// Forgets everything if `epoch` is not the one that was mirrored last and the operator's
  /// refusals hold for one epoch only.
  void enter(std::uint64_t epoch) {
    if constexpr (!permanent<Op>) {
      if (std::exchange(epoch_, epoch) != epoch) mirrors_.forget();
    }
  }

 private:
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
  };

  am::mirror_table<value, !permanent<Op>> mirrors_;
  const void* map_ = nullptr;  // whose cells are mirrored, in checked builds
  std::uint64_t epoch_ = 0;
};

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
