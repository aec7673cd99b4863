// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <cairn/activity/shape.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/random.hpp>
#include <cairn/hw/pages.hpp>

namespace cairn::activity {

/// One worker's bounded cache of mirrors of remote cells: what this worker has sent to each.
///
/// A mirror starts as an own element does and takes each message before it is sent. A message
/// that the mirror no longer wants cannot take effect at the owner either, because the cell
/// there has seen at least what the mirror has. Two ids may share a mirror; the newcomer
/// evicts, which only costs messages.
///
/// The operator's cells are of one map. (Two maps have the same ids: a mirror would take the
/// messages of both.)
///
/// Memory     at most `entries` * (sizeof(T) + 9) bytes, taken at the first message
template <single_cell Op>
class sent_filter {
  using value = cell_value_t<Op>;
  using message = typename Op::message;

 public:
  sent_filter() = default;
  explicit sent_filter(std::size_t entries) : entries_(entries) {}

  [[nodiscard]] bool enabled() const noexcept { return entries_ != 0; }

  /// True if `m`, for the cell at `where`, may still take effect there.
  template <class Place>
  [[nodiscard]] bool passes(const Op& op, const Place& where, const message& m) {
    auto& mirror = mirror_of(where);
    if (!op.wanted(mirror, m)) return false;
    detail::attempt(op, tm::cell_ref<value, tm::plain_access>(mirror), m);
    return true;
  }

  /// Forgets everything if `epoch` is not the one that was mirrored last and the operator's
  /// refusals hold for one epoch only.
  void enter(std::uint64_t epoch) {
    if constexpr (!permanent<Op>) {
      if (epoch == epoch_) return;
      epoch_ = epoch;
      if (used_.size() < most_noted()) {
        for (auto slot : used_) mirrors_[slot] = initial_;
      } else {
        std::fill(mirrors_.begin(), mirrors_.end(), initial_);
      }
      used_.clear();
    }
  }

 private:
  template <class Place>
  value& mirror_of(const Place& where) {
    if (mirrors_.empty()) [[unlikely]] {
      map_ = where.map;
      allocate(where.map->size(), where.map->initial());
    }
    CAIRN_ASSERT(where.map == map_);
    if (ids_.empty()) {
      note_use(where.id);
      return mirrors_[where.id];
    }
    const auto slot = mix64(where.id) & (mirrors_.size() - 1);
    if (ids_[slot] != where.id) {
      ids_[slot] = where.id;
      mirrors_[slot] = initial_;
    }
    note_use(slot);
    return mirrors_[slot];
  }

  void note_use(std::uint64_t slot) {
    if constexpr (!permanent<Op>) {
      if (used_.size() < most_noted()) used_.push_back(slot);
    }
  }
  // From so many on it is as cheap to forget all.
  [[nodiscard]] std::size_t most_noted() const noexcept { return 1 + mirrors_.size() / 8; }

  void allocate(std::uint64_t elements, const value& initial) {
    initial_ = initial;
    if (elements <= entries_) {
      mirrors_ = hw::page_buffer<value>(elements);
    } else {
      std::size_t slots = 1;
      while (2 * slots <= entries_) slots *= 2;
      mirrors_ = hw::page_buffer<value>(slots);
      ids_ = hw::page_buffer<std::uint64_t>(slots);
      std::fill(ids_.begin(), ids_.end(), ~std::uint64_t{0});
    }
    std::fill(mirrors_.begin(), mirrors_.end(), initial);
  }

  std::size_t entries_ = 0;
  const void* map_ = nullptr;  // whose cells are mirrored
  value initial_{};
  hw::page_buffer<value> mirrors_;
  hw::page_buffer<std::uint64_t> ids_;  // whose mirror; empty if there is one for each
  std::vector<std::uint64_t> used_;
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
