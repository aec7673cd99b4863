// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include <cairn/base/contract.hpp>
#include <cairn/core/world.hpp>
#include <cairn/hw/pages.hpp>
#include <cairn/pgas/vertex_map.hpp>
#include <cairn/task/per_worker.hpp>

namespace cairn::algo {

/// Distances that a few workers of one rank lower without atomic instructions. Each worker writes a
/// table of its own, and a vertex's distance is the minimum over the tables. Worker 0's table is
/// the vertex map.
///
/// A worker that writes a distance then adds an entry to its queue, unless no path leads on. An
/// entry is skipped only if a table contains a smaller distance. Therefore the smallest distance of
/// a vertex is always expanded, even if a worker reads outdated values of other tables. Outdated
/// values only cause repeated work.
///
/// A worker marks the blocks in which it has lowered distances, and only these are merged. Merging
/// whole tables would take longer than a short search, because each core would read what another
/// has written.
///
/// Memory    n distances per participating worker except worker 0; on one rank
/// Source    ours
template <class Distance>
class worker_distances {
 public:
  static constexpr int max_workers = 4;       // each improvement reads all tables
  static constexpr std::size_t block = 1024;  // vertices

  /// The tables as one worker accesses them: it writes its own and reads the others.
  class tables {
   public:
    [[nodiscard]] [[gnu::always_inline]] bool improves(std::uint64_t v, Distance d) const {
      return d < mine_[v];
    }
    /// Lowers the distance. Returns whether d is smaller than the distance in every table.
    [[nodiscard]] [[gnu::always_inline]] bool lower(std::uint64_t v, Distance d) const {
      auto& mine = mine_[v];
      if (!(d < mine)) return false;
      const auto known = min_of_others(v);
      store(mine, std::min(d, known));
      marks_[v / block] = true;
      return d < known;
    }
    [[nodiscard]] Distance least(std::uint64_t v) const {
      return std::min(mine_[v], min_of_others(v));
    }
    /// Whether no table contains a smaller distance.
    [[nodiscard]] [[gnu::always_inline]] bool is_least(std::uint64_t v, Distance d) const {
      return !(mine_[v] < d) && !(min_of_others(v) < d);
    }

   private:
    friend class worker_distances;
    [[gnu::always_inline]] Distance min_of_others(std::uint64_t v) const {
      auto min = load(others_[0][v]);
      for (std::size_t i = 1; i < num_others_; ++i) {
        min = std::min(min, load(others_[i][v]));
      }
      return min;
    }
    Distance* mine_ = nullptr;
    bool* marks_ = nullptr;
    std::array<Distance*, max_workers> others_{};
    std::size_t num_others_ = 1;
  };

  worker_distances(world& w, pgas::vertex_map<Distance>& distance)
      : w_(w), distance_(distance), tables_(w.workers()) {
    CAIRN_EXPECTS(w.size() == 1);
    tables_[main_worker].marks = hw::page_buffer<bool>(num_blocks());
    tables_[main_worker].begin.store(distance.local().data(), std::memory_order_relaxed);
  }

  /// The tables for worker k, which calls this. Omits the tables of workers that have not begun.
  [[nodiscard]] tables of(worker_t k) {
    tables t;
    t.mine_ = tables_[k].begin.load(std::memory_order_relaxed);
    if (t.mine_ == nullptr) [[unlikely]]
      t.mine_ = begin(k);
    t.marks_ = tables_[k].marks.data();
    std::size_t others = 0;
    for (auto& other : tables_) {
      auto* const begin = other.value.begin.load(std::memory_order_acquire);
      if (begin != nullptr && begin != t.mine_) t.others_[others++] = begin;
    }
    if (others == 0) t.others_[0] = t.mine_;
    t.num_others_ = std::max<std::size_t>(1, others);
    return t;
  }

  /// Writes the minima over the tables to the vertex map. Called by worker 0 between runs.
  void gather() {
    for (auto& other : tables_) {
      const auto* const from = other.value.begin.load(std::memory_order_relaxed);
      const auto to = distance_.local();
      if (from == nullptr || from == to.data()) continue;
      w_.parallel_for(num_blocks(), [from, to, marks = other.value.marks.data()](
                                        worker_t, std::size_t first, std::size_t end) {
        for (auto b = first; b < end; ++b) {
          if (!marks[b]) continue;
          const auto last = std::min(to.size(), (b + 1) * block);
          for (auto i = b * block; i < last; ++i) to[i] = std::min(to[i], from[i]);
        }
      });
    }
  }

 private:
  struct table {
    std::atomic<Distance*> begin{nullptr};  // nullptr: the worker has not begun
    hw::page_buffer<Distance> values;
    hw::page_buffer<bool> marks;  // blocks with a lowered distance; worker 0's are not read
  };

  [[nodiscard]] std::size_t num_blocks() const {
    return (distance_.local().size() + block - 1) / block;
  }

  // If the call is cancelled, a rest of the table has any contents, and the search ends soon.
  [[gnu::noinline]] Distance* begin(worker_t k) {
    constexpr std::size_t piece = std::size_t{1} << 20;  // about a millisecond
    auto& mine = tables_[k];
    mine.values = hw::page_buffer<Distance>(distance_.local().size(), w_.memory());
    for (auto rest = mine.values.span(); !rest.empty();) {
      const auto some = rest.first(std::min(rest.size(), piece));
      std::ranges::fill(some, distance_.initial());
      rest = rest.subspan(some.size());
      if (!rest.empty() && !w_.pool().may_continue(k)) break;
    }
    mine.marks = hw::page_buffer<bool>(num_blocks());
    mine.begin.store(mine.values.data(), std::memory_order_release);
    return mine.values.data();
  }

  static Distance load(Distance& d) { return std::atomic_ref(d).load(std::memory_order_relaxed); }
  static void store(Distance& d, Distance x) {
    std::atomic_ref(d).store(x, std::memory_order_relaxed);
  }

  world& w_;
  pgas::vertex_map<Distance>& distance_;
  task::per_worker<table> tables_;
};

}  // namespace cairn::algo
