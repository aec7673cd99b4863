// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <cairn/base/contract.hpp>
#include <cairn/graph/exchange.hpp>
#include <cairn/graph/io/raw_edges.hpp>

namespace cairn::graph {

/// Which id of the input each vertex had: vertex v is the v-th smallest id.
///
/// Memory    8 bytes a vertex; nothing where every vertex is its own id
class labels {
 public:
  /// Vertex v has id v, for v in [0, num_vertices).
  explicit labels(std::uint64_t num_vertices = 0) noexcept : size_(num_vertices) {}
  /// Vertex v has id ids[v]; ids ascend strictly. Becomes the identity where they are 0, 1, ...
  explicit labels(std::vector<std::uint64_t> ids);

  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  [[nodiscard]] bool identity() const noexcept { return ids_.empty(); }
  /// The ids, ascending; empty for the identity.
  [[nodiscard]] const std::vector<std::uint64_t>& ids() const noexcept { return ids_; }

  /// The input's id of vertex v < size().
  [[nodiscard]] std::uint64_t id_of(std::uint64_t v) const noexcept {
    CAIRN_ASSERT(v < size_);
    return ids_.empty() ? v : ids_[v];
  }
  /// The vertex that had this id, or nothing. O(log n).
  [[nodiscard]] std::optional<std::uint64_t> vertex_of(std::uint64_t id) const noexcept;

 private:
  std::vector<std::uint64_t> ids_;
  std::uint64_t size_ = 0;
};

/// Numbers the vertices and rewrites the edges' ids in place.
///
/// A graph that declares n keeps its ids and has n vertices. In an edge list a vertex is an id
/// that occurs on any rank; vertices count from 0 by ascending id. Afterwards all blocks on all
/// ranks hold 32-bit ids if there are fewer than 2^32 - 1 vertices, and 64-bit ids else.
///
/// Work      O(edges); O(edges log edges) where the largest id is many times their number
/// Memory    O(vertices), and then O(edges), beyond the arguments
/// Collective.
[[nodiscard]] labels relabel(const exchange& ranks, io::raw_edges& edges);

}  // namespace cairn::graph
