// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <cairn/am/request.hpp>
#include <cairn/core/world.hpp>
#include <cairn/pgas/vertex_map.hpp>
#include <cairn/traverse/push.hpp>

namespace cairn::algo {

/// Copies of other ranks' elements of a map, as of the last refresh().
///
/// Messages    two per chosen element
/// Collective  constructor, destructor and refresh()
template <class Id>
class fetched {
 public:
  fetched(world& w, const pgas::vertex_map<Id>& map)
      : w_(w),
        map_(map),
        get_(
            w, [this](worker_t, Id at) { return map_.load(at); },
            [this](worker_t, std::uint64_t slot, Id value) { values_[slot] = value; }) {}

  /// Chooses the elements to copy, which belong to other ranks; ids ascending.
  void choose(std::vector<Id>&& ids) {
    ids_ = std::move(ids);
    values_.resize(ids_.size());
    find_groups();
  }

  /// Fetches all chosen elements. The map must not change meanwhile.
  void refresh() {
    const auto ask_for = [&](auto& ask, worker_t, std::size_t begin, std::size_t end) {
      for (auto i = begin; i < end; ++i) ask(map_.owner(ids_[i]), ids_[i], am::slot(i));
      return 0;  // edges
    };
    traverse::push_ranges(w_, get_, ids_.size(), ask_for, traverse::chunk_of(w_, ids_.size(), 10));
  }

  /// The current value of an element of this rank, or the copy of a chosen remote one.
  [[nodiscard]] Id operator()(Id v) const {
    if (map_.owns(v)) return map_.load(v);
    const auto group = group_of(v);
    const auto* const found =
        std::lower_bound(&ids_[starts_[group]], ids_.data() + starts_[group + 1], v);
    return values_[static_cast<std::size_t>(found - ids_.data())];
  }

 private:
  [[nodiscard]] std::size_t group_of(Id v) const { return (v - ids_.front()) >> group_bits_; }

  // Divides the range of the ids into at most twice as many groups as there are ids, so that a
  // group has few of them.
  void find_groups() {
    starts_.clear();
    group_bits_ = 0;
    if (ids_.empty()) return;
    while (group_of(ids_.back()) >= 2 * ids_.size()) ++group_bits_;
    starts_.resize(group_of(ids_.back()) + 2, ids_.size());
    w_.parallel_for(
        ids_.size(),
        [&](worker_t, std::size_t i, std::size_t last) {
          for (; i < last; ++i) {
            const auto end = group_of(ids_[i]) + 1;
            for (auto g = i == 0 ? 0 : group_of(ids_[i - 1]) + 1; g < end; ++g) starts_[g] = i;
          }
        },
        traverse::chunk_of(w_, ids_.size(), 2));
  }

  world& w_;
  const pgas::vertex_map<Id>& map_;
  std::vector<Id> ids_, values_;     // ids ascending
  std::vector<std::size_t> starts_;  // of each group of ids, and the end
  unsigned group_bits_ = 0;          // log2 of a group's range
  am::request<Id, Id> get_;
};

}  // namespace cairn::algo
