// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <cairn/am/channel.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/core/world.hpp>
#include <cairn/pgas/vertex_map.hpp>

namespace cairn::algo {

/// Copies of other ranks' elements of a map, as they were when asked for.
///
/// Messages   two per element asked for
/// Collective constructor, destructor and refresh().
template <class Id>
class fetched {
  struct question {
    Id at;
    rank_t from;
    std::uint64_t slot;
  };
  struct answer {
    std::uint64_t slot;
    Id value;
  };

 public:
  fetched(world& w, const pgas::vertex_map<Id>& map)
      : w_(w),
        map_(map),
        answers_(w,
                 [this](worker_t, std::span<const answer> batch) {
                   for (const auto& a : batch) values_[a.slot] = a.value;
                 }),
        questions_(w, [this](worker_t k, std::span<const question> batch) {
          auto send = answers_.from(k);
          for (const auto& q : batch) send(q.from, {q.slot, map_.load(q.at)});
        }) {}

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
      auto send = questions_.from(k);
      for (auto i = begin; i < end; ++i) send(map_.owner(ids_[i]), {ids_[i], w_.rank(), i});
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
  am::channel<answer> answers_;
  am::channel<question> questions_;
};

}  // namespace cairn::algo
