// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include <cairn/core/machines.hpp>
#include <cairn/core/world.hpp>
#include <cairn/hw/page_pool.hpp>
#include <cairn/pgas/vertex_map.hpp>
#include <cairn/tm/cell.hpp>

namespace cairn::algo {

/// A map's values for all vertices on every rank: of this rank as last stored here, of other ranks
/// those of the last share(), or later ones if all ranks run on one machine that can share memory.
///
/// Memory      with several ranks n values, once if they share them, else per rank
/// Collective  constructor, share(), in_parts(); the destruction is as that of copies_in_turn
template <class Id, class T>
class mirror {
 public:
  mirror(world& w, pgas::vertex_map<T>& map) : w_(w), map_(map), values_(map.local().data()) {
    if (w.size() == 1) return;
    if (w.machines().count() == 1) shared_ = w.machines().lend(map.size() * sizeof(T));
    if (const auto all = shared_.values<T>(map.size()); !all.empty()) {
      std::ranges::fill(all.subspan(map.first(), map.local().size()), map.initial());
      values_ = all.data();
      w.barrier();
    } else {
      copy_ = hw::page_buffer<T>(map.size());
      std::fill(copy_.begin(), copy_.end(), map.initial());
      values_ = copy_.begin();
    }
  }

  [[nodiscard]] T operator[](Id v) const { return tm::load_cell(values_[v]); }

  /// Sets the value of vertex v of this rank. Other ranks see it after share() at the latest.
  void store(Id v, const T& x) {
    map_.store(v, x);
    if (w_.size() > 1) std::atomic_ref(values_[v]).store(x, std::memory_order_relaxed);
  }

  /// Calls f for parts of a list of vertices, the same number of parts on all ranks, and shares
  /// their values after each: what f computes from remote values is then rarely out of date. One
  /// part if all ranks see stored values at once.
  ///
  /// num_of_all  vertices in the lists of all ranks
  template <class F>
  void in_parts(std::span<const Id> list, std::uint64_t num_of_all, F&& f) {
    constexpr std::uint64_t min_part = 512, max_parts = 16;
    const auto per_rank = num_of_all / static_cast<std::uint64_t>(w_.size());
    const bool at_once = copy_.size() == 0;
    const auto parts = at_once ? 1 : std::clamp<std::uint64_t>(per_rank / min_part, 1, max_parts);
    for (std::uint64_t i = 0; i < parts; ++i) {
      const auto begin = list.size() * i / parts, end = list.size() * (i + 1) / parts;
      const auto part = list.subspan(begin, end - begin);
      f(part);
      share(part);
    }
  }

  /// Afterwards all ranks see the values of this rank's changed vertices.
  void share(std::span<const Id> changed) {
    struct value_of {
      Id v;
      T value;
    };
    if (w_.size() == 1) return;
    if (copy_.size() == 0) return w_.barrier();
    std::vector<value_of> mine;
    mine.reserve(changed.size());
    for (const Id v : changed) mine.push_back({v, map_.load(v)});
    for (const auto& [v, x] : w_.template all_gather_values<value_of>(mine)) values_[v] = x;
  }

 private:
  world& w_;
  pgas::vertex_map<T>& map_;
  machines::lent_memory shared_;
  hw::page_buffer<T> copy_;  // with several ranks, without shared memory
  T* values_;
};

}  // namespace cairn::algo
