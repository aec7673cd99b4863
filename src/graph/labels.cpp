// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <variant>

#include <cairn/base/types.hpp>
#include <cairn/graph/labels.hpp>
#include <cairn/task/parallel_for.hpp>
#include <cairn/task/per_worker.hpp>

#include "occurring_ids.hpp"

namespace cairn::graph {
namespace {

// A table may take twice the memory of the edges (8 bytes each), or a few megabytes.
constexpr std::uint64_t table_ids_per_edge = 4;
constexpr std::uint64_t table_ids_at_least = std::uint64_t{1} << 22;

struct extent {
  std::uint64_t edges = 0;
  std::uint64_t largest = 0;

  void add(const extent& other) noexcept {
    edges += other.edges;
    largest = std::max(largest, other.largest);
  }
};

extent extent_of(const io::edge_block& block) {
  extent found{block.size(), 0};
  std::visit(
      [&](const auto& edges) {
        for (const auto& e : edges) {
          found.largest = std::max<std::uint64_t>({found.largest, e.source, e.target});
        }
      },
      block.edges);
  return found;
}

/// Collective.
extent extent_of(const exchange& ranks, const io::raw_edges& edges) {
  task::per_worker<extent> parts(ranks.workers().workers());
  task::parallel_for(ranks.workers(), edges.blocks.size(), 1,
                     [&](worker_t w, std::size_t begin, std::size_t end) {
                       for (auto i = begin; i < end; ++i) parts[w].add(extent_of(edges.blocks[i]));
                     });
  extent mine;
  for (const auto& part : parts) mine.add(part.value);
  extent all;
  for (const auto& of_rank : ranks.all_gather(mine)) all.add(of_rank);
  return all;
}

template <class To, class From, class VertexOf>
void rewrite_block(const std::vector<edge<From>>& from, std::vector<edge<To>>& to,
                   const VertexOf& vertex_of) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    to[i] = {static_cast<To>(vertex_of(from[i].source)),
             static_cast<To>(vertex_of(from[i].target))};
  }
}

/// Passes all ids through vertex_of and stores them as To.
template <class To, class VertexOf>
void rewrite_as(task::pool& workers, io::raw_edges& edges, const VertexOf& vertex_of) {
  const auto rewrite = [&](auto& block) {
    if (auto* const same = std::get_if<std::vector<edge<To>>>(&block)) {
      rewrite_block(*same, *same, vertex_of);
      return;
    }
    std::vector<edge<To>> to;
    std::visit(
        [&](const auto& from) {
          to.resize(from.size());
          rewrite_block(from, to, vertex_of);
        },
        block);
    block = std::move(to);
  };
  task::parallel_for(workers, edges.blocks.size(), 1,
                     [&](worker_t, std::size_t begin, std::size_t end) {
                       for (auto i = begin; i < end; ++i) rewrite(edges.blocks[i].edges);
                     });
}

template <class VertexOf>
void rewrite(task::pool& workers, io::raw_edges& edges, std::uint64_t num_vertices,
             const VertexOf& vertex_of) {
  if (num_vertices < no_vertex<std::uint32_t>) {
    rewrite_as<std::uint32_t>(workers, edges, vertex_of);
  } else {
    rewrite_as<std::uint64_t>(workers, edges, vertex_of);
  }
}

template <class Id>
bool all_blocks_are(const io::raw_edges& edges) {
  return std::all_of(edges.blocks.begin(), edges.blocks.end(), [](const io::edge_block& block) {
    return std::holds_alternative<std::vector<edge<Id>>>(block.edges);
  });
}

/// Every vertex keeps its id; only the ids' width may have to change.
labels keep_ids(task::pool& workers, io::raw_edges& edges, std::uint64_t num_vertices) {
  const bool narrow = num_vertices < no_vertex<std::uint32_t>;
  const bool done =
      narrow ? all_blocks_are<std::uint32_t>(edges) : all_blocks_are<std::uint64_t>(edges);
  if (!done) rewrite(workers, edges, num_vertices, [](std::uint64_t id) { return id; });
  return labels(num_vertices);
}

}  // namespace

labels::labels(std::vector<std::uint64_t> ids) : ids_(std::move(ids)), size_(ids_.size()) {
  CAIRN_EXPECTS(std::adjacent_find(ids_.begin(), ids_.end(), std::greater_equal<>()) == ids_.end());
  if (size_ != 0 && ids_.back() == size_ - 1) std::vector<std::uint64_t>().swap(ids_);
}

std::optional<std::uint64_t> labels::vertex_of(std::uint64_t id) const noexcept {
  if (ids_.empty()) return id < size_ ? std::optional(id) : std::nullopt;
  const auto at = std::lower_bound(ids_.begin(), ids_.end(), id);
  if (at == ids_.end() || *at != id) return std::nullopt;
  return static_cast<std::uint64_t>(at - ids_.begin());
}

labels relabel(const exchange& ranks, io::raw_edges& edges) {
  auto& workers = ranks.workers();
  if (edges.declared_vertices) return keep_ids(workers, edges, *edges.declared_vertices);
  const auto all = extent_of(ranks, edges);
  if (all.edges == 0) return labels(0);
  const auto table_limit = std::min<std::uint64_t>(
      std::max(table_ids_at_least, table_ids_per_edge * all.edges), no_vertex<std::uint32_t> - 1);
  if (all.largest < table_limit) {
    id_table occurring(ranks, edges, all.largest);
    if (occurring.size() == all.largest + 1) return keep_ids(workers, edges, occurring.size());
    rewrite(workers, edges, occurring.size(), occurring);
    return labels(std::move(occurring.ids()));
  }
  id_list occurring(ranks, edges);
  rewrite(workers, edges, occurring.size(), occurring);
  return labels(std::move(occurring.ids()));
}

}  // namespace cairn::graph
