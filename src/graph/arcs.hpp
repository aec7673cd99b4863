// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <variant>
#include <vector>

#include <cairn/graph/edge.hpp>
#include <cairn/graph/io/raw_edges.hpp>
#include <cairn/hw/pages.hpp>

namespace cairn::graph::detail {

/// The weight type of edges without weights.
struct unweighted {};

/// The arcs made of an edge u -> v: u -> v, v -> u, or both (one arc for a self-loop).
enum class direction : std::uint8_t { out, in, both };

/// Calls f(std::integral_constant<direction, d>).
template <class F>
void with_direction(direction d, F&& f) {
  switch (d) {
    case direction::out:
      return f(std::integral_constant<direction, direction::out>{});
    case direction::in:
      return f(std::integral_constant<direction, direction::in>{});
    case direction::both:
      return f(std::integral_constant<direction, direction::both>{});
  }
}

/// The arcs of edge blocks, in chunks for parallel loops. A block is freed when all its chunks are
/// released.
///
/// Id, W  the types in all blocks: 32- or 64-bit ids; weights of type W, or any if unweighted
template <class Id, class W>
class arc_chunks {
 public:
  static constexpr std::size_t chunk_edges = 1 << 16;

  explicit arc_chunks(std::vector<io::edge_block>& blocks)
      : blocks_(blocks), unread_(blocks.size()) {
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      const auto n = blocks[b].size();
      num_edges_ += n;
      unread_[b].store((n + chunk_edges - 1) / chunk_edges, std::memory_order_relaxed);
      for (std::size_t at = 0; at < n; at += chunk_edges) {
        chunks_.push_back({b, at, std::min(n, at + chunk_edges)});
      }
    }
  }

  [[nodiscard]] std::size_t size() const noexcept { return chunks_.size(); }
  [[nodiscard]] std::uint64_t num_edges() const noexcept { return num_edges_; }

  /// Calls f(source, target, weight) for each arc of chunk i.
  template <class F>
  void for_each(std::size_t i, direction d, bool drop_self_loops, F&& f) const {
    with_direction(d, [&](auto constant) {
      constexpr auto selected = decltype(constant)::value;
      const auto [block, begin, end] = chunks_[i];
      const auto* const edges = std::get<std::vector<edge<Id>>>(blocks_[block].edges).data();
      const auto* const weights = weights_of(block);
      for (auto k = begin; k < end; ++k) {
        const auto [u, v] = edges[k];
        const auto weight = weight_at(weights, k);
        if (u == v) [[unlikely]] {
          if (!drop_self_loops) f(u, v, weight);
          continue;
        }
        if constexpr (selected != direction::in) f(u, v, weight);
        if constexpr (selected != direction::out) f(v, u, weight);
      }
    });
  }

  /// Chunk i is no longer needed. Releasing the last chunk of a block frees the block.
  void release(std::size_t i) {
    const auto b = chunks_[i].block;
    if (unread_[b].fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    // Blocks are in the malloc arenas of all workers, which rarely shrink: without this the memory
    // of all blocks would stay allocated until the program ends.
    auto& edges = std::get<std::vector<edge<Id>>>(blocks_[b].edges);
    hw::drop_pages(edges.data(), edges.size() * sizeof(edge<Id>));
    std::visit(
        [](auto& weights) {
          if constexpr (!std::is_same_v<std::decay_t<decltype(weights)>, std::monostate>) {
            hw::drop_pages(weights.data(), weights.size() * sizeof weights[0]);
          }
        },
        blocks_[b].weights);
    blocks_[b] = {};
  }

 private:
  struct chunk {
    std::size_t block, begin, end;
  };

  const W* weights_of(std::size_t block) const {
    if constexpr (std::is_same_v<W, unweighted>) {
      return nullptr;
    } else {
      return std::get<std::vector<W>>(blocks_[block].weights).data();
    }
  }
  static W weight_at([[maybe_unused]] const W* weights, [[maybe_unused]] std::size_t k) {
    if constexpr (std::is_same_v<W, unweighted>) {
      return {};
    } else {
      return weights[k];
    }
  }

  std::vector<io::edge_block>& blocks_;
  std::vector<chunk> chunks_;
  std::vector<std::atomic<std::size_t>> unread_;  // unreleased chunks, by block
  std::uint64_t num_edges_ = 0;
};

}  // namespace cairn::graph::detail
