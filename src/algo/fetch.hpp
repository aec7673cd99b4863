// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <cairn/am/epoch.hpp>
#include <cairn/am/request.hpp>
#include <cairn/core/world.hpp>
#include <cairn/pgas/vertex_map.hpp>

namespace cairn::algo {

/// Copies of other ranks' elements of a map, as they were when asked for.
///
/// Messages   two per element asked for
/// Collective constructor, destructor and refresh().
template <class Id>
class fetched {
 public:
  fetched(world& w, const pgas::vertex_map<Id>& map)
      : w_(w),
        map_(map),
        get_(
            w, [this](worker_t, Id at) { return map_.load(at); },
            [this](worker_t, std::uint64_t slot, Id value) { values_[slot] = value; }) {}

  /// Chooses which elements to copy: of other ranks, in any order, also doubled.
  void choose(std::vector<Id> ids) {
    ids_ = std::move(ids);
    std::sort(ids_.begin(), ids_.end());
    ids_.erase(std::unique(ids_.begin(), ids_.end()), ids_.end());
    values_.resize(ids_.size());
  }

  /// Asks for all of them. Nobody writes to the map meanwhile.
  void refresh() {
    am::epoch epoch(w_);
    w_.parallel_for(ids_.size(), [&](worker_t k, std::size_t begin, std::size_t end) {
      auto ask = get_.from(k);
      for (auto i = begin; i < end; ++i) ask(map_.owner(ids_[i]), ids_[i], i);
    });
    epoch.close();
  }

  /// The element of v: an own one as it is, another's as it was; that one was chosen.
  [[nodiscard]] Id operator()(Id v) const {
    if (map_.owns(v)) return map_.load(v);
    return values_[static_cast<std::size_t>(std::lower_bound(ids_.begin(), ids_.end(), v) -
                                            ids_.begin())];
  }

 private:
  world& w_;
  const pgas::vertex_map<Id>& map_;
  std::vector<Id> ids_, values_;
  am::request<Id, Id> get_;
};

}  // namespace cairn::algo
