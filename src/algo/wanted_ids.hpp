// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include <cairn/core/world.hpp>
#include <cairn/task/per_worker.hpp>

#include "algo/sort.hpp"

namespace cairn::algo {

/// A set of ids that workers add.
///
/// Memory  per worker at most 2^20 ids, or 8 times as many as distinct ones, and a cache of as many
///         ids
template <class Id>
class wanted_ids {
 public:
  explicit wanted_ids(world& w) : w_(w), parts_(w.workers()) {}

  /// Worker k calls it inside a loop or outside.
  void add(worker_t k, Id id) {
    auto& mine = parts_[k];
    if (mine.recent.empty()) [[unlikely]]
      mine.recent.assign(1024, no_vertex<Id>);
    if (std::exchange(mine.recent[id & (mine.recent.size() - 1)], id) != id) mine.add(w_, k, id);
  }

  /// Removes and returns all ids, ascending. Outside loops.
  ///
  /// Throws    as pool::throw_if_interrupted
  [[nodiscard]] std::vector<Id> take() {
    w_.parallel_for(
        static_cast<std::size_t>(w_.workers()),
        [&](worker_t k, std::size_t i, std::size_t) {
          parts_[static_cast<worker_t>(i)].remove_duplicates(w_, k);
        },
        1);
    std::vector<Id> all;
    for (auto& k : parts_) {
      if (all.empty()) {
        std::swap(all, k.value.ids);
      } else {
        append_interruptibly(w_, all, k.value.ids);
      }
      k.value = {};
    }
    if (w_.workers() == 1) return all;
    sort_interruptibly(w_, all, std::less<>());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }

  [[nodiscard]] std::size_t capacity(worker_t k) const { return parts_[k].ids.capacity(); }

 private:
  struct part {
    std::vector<Id> ids;
    std::vector<Id> recent;  // ids that were added, by their low bits; most are not added again
    std::size_t limit = std::size_t{1} << 20;

    [[gnu::noinline]] void add(world& w, worker_t k, Id id) {
      ids.push_back(id);
      constexpr std::size_t max_recent = std::size_t{1} << 20;
      if (ids.size() > recent.size() && recent.size() < max_recent)
        recent.assign(2 * recent.size(), no_vertex<Id>);
      if (ids.size() < limit) return;
      remove_duplicates(w, k);
      limit = std::max(limit, 8 * ids.size());
    }
    // If the call is cancelled, the loop ends after this chunk, and the ids are useless.
    void remove_duplicates(world& w, worker_t k) {
      sort_in_loop(w, k, std::span(ids), std::less<>());
      ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    }
  };

  world& w_;
  task::per_worker<part> parts_;
};

}  // namespace cairn::algo
