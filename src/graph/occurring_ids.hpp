// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <cairn/graph/io/raw_edges.hpp>
#include <cairn/task/pool.hpp>

namespace cairn {
class world;
}

namespace cairn::graph {

/// The ids that occur in the edges of all ranks, as a table of all ids up to the largest. Used if
/// the largest id is not many times the number of edges. Memory: 4 bytes an id.
class id_table {
 public:
  /// Collective. No id is above `largest`, which is below 2^32 - 2.
  id_table(world& w, const io::raw_edges& edges, std::uint64_t largest);

  [[nodiscard]] std::uint64_t size() const noexcept { return ids_.size(); }
  /// The occurring ids, ascending.
  [[nodiscard]] std::vector<std::uint64_t>& ids() noexcept { return ids_; }
  /// The number of smaller occurring ids. `id` occurs.
  [[nodiscard]] std::uint64_t operator()(std::uint64_t id) const noexcept { return table_[id]; }

 private:
  static void unite(world& w, std::vector<std::uint64_t>& bits);
  void number(task::pool& workers, const std::vector<std::uint64_t>& bits);

  std::vector<std::uint32_t> table_;  // the number of each id that occurs
  std::vector<std::uint64_t> ids_;
};

/// The ids that occur in the edges of all ranks, as a sorted list; for sparse ids.
class id_list {
 public:
  /// Collective.
  id_list(world& w, const io::raw_edges& edges);
  /// The list of the given ids, which ascend strictly.
  explicit id_list(std::vector<std::uint64_t> ids) : ids_(std::move(ids)) { build_index(); }

  [[nodiscard]] std::uint64_t size() const noexcept { return ids_.size(); }
  [[nodiscard]] std::vector<std::uint64_t>& ids() noexcept { return ids_; }
  /// The number of smaller ids. `id` is at most the largest.
  [[nodiscard]] std::uint64_t operator()(std::uint64_t id) const noexcept;

 private:
  void build_index();

  std::vector<std::uint64_t> ids_;
  // ids_[starts_[b]] is the first id whose bits above shift_ are at least b. Evenly spread ids are
  // found at once, clustered ids by a short binary search.
  std::vector<std::uint64_t> starts_;
  int shift_ = 0;
};

}  // namespace cairn::graph
