// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <cairn/am/request.hpp>
#include <cairn/core/world.hpp>
#include <cairn/pgas/vertex_map.hpp>
#include <cairn/traverse/push.hpp>
#include <cairn/traverse/worklist.hpp>

#include "algo/sort.hpp"

namespace cairn::algo {

/// Sorts a list and removes duplicates. On worker k inside a loop; if the call is cancelled, the
/// loop ends after this chunk, and the list is useless.
template <class Id>
void keep_each_once(world& w, worker_t k, std::vector<Id>& ids) {
  sort_in_loop(w, k, ids, std::less<>());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

/// Adds the ids of a worker to a list of at most 2^20 ids, or 8 times as many as distinct ones.
template <class Id>
struct distinct_adder {
  std::size_t limit = std::size_t{1} << 20;

  void add(world& w, traverse::worklist<Id>& to, worker_t k, Id id) {
    to.add(k, id);
    auto& own = to.own(k);
    if (own.size() < limit) return;
    keep_each_once(w, k, own);
    limit = std::max(limit, 8 * own.size());
  }
};

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

  /// Chooses the elements to copy. Takes them from a list of remote elements, which may contain
  /// duplicates.
  void choose(traverse::worklist<Id>& wanted) {
    w_.parallel_for(
        static_cast<std::size_t>(w_.workers()),
        [&](worker_t k, std::size_t list, std::size_t) {
          keep_each_once(w_, k, wanted.own(static_cast<worker_t>(list)));
        },
        1);
    const auto all = wanted.take();
    ids_.assign(all.begin(), all.end());
    if (w_.workers() > 1) {
      sort_interruptibly(w_, ids_, std::less<>());
      ids_.erase(std::unique(ids_.begin(), ids_.end()), ids_.end());
    }
    values_.resize(ids_.size());
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
