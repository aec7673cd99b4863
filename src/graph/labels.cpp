// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <charconv>
#include <functional>
#include <numeric>
#include <system_error>
#include <variant>

#include <cairn/base/types.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/labels.hpp>
#include <cairn/task/parallel_for.hpp>
#include <cairn/task/per_worker.hpp>

#include "occurring_ids.hpp"
#include "rewrite.hpp"

namespace cairn::graph {
namespace {

using detail::rewrite;

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
extent extent_of(world& w, const io::raw_edges& edges) {
  task::per_worker<extent> parts(w.pool().workers());
  task::parallel_for(w.pool(), {.elements = edges.blocks.size(), .chunk = 1},
                     [&](worker_t k, std::size_t begin, std::size_t end) {
                       for (auto i = begin; i < end; ++i) parts[k].add(extent_of(edges.blocks[i]));
                     });
  extent mine;
  for (const auto& part : parts) mine.add(part.value);
  extent all;
  for (const auto& of_rank : w.all_gather(mine)) all.add(of_rank);
  return all;
}

template <class Id>
bool all_blocks_are(const io::raw_edges& edges) {
  return std::all_of(edges.blocks.begin(), edges.blocks.end(), [](const io::edge_block& block) {
    return std::holds_alternative<std::vector<edge<Id>>>(block.edges);
  });
}

/// Every vertex keeps its id; only the width of the ids may change.
labels keep_ids(task::pool& workers, io::raw_edges& edges, std::uint64_t num_vertices,
                std::uint64_t first_id = 0) {
  const bool narrow = num_vertices < no_vertex<std::uint32_t>;
  const bool done =
      narrow ? all_blocks_are<std::uint32_t>(edges) : all_blocks_are<std::uint64_t>(edges);
  if (!done) rewrite(workers, edges, num_vertices, [](std::uint64_t id) { return id; });
  return labels(consecutive_ids{.first = first_id, .size = num_vertices});
}

/// The numbers below n, sorted by `less`.
template <class Less>
std::vector<std::uint64_t> ascending(std::uint64_t n, const Less& less) {
  std::vector<std::uint64_t> order(n);
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  std::sort(order.begin(), order.end(), less);
  return order;
}

/// inverse_of(order)[order[i]] = i.
std::vector<std::uint64_t> inverse_of(const std::vector<std::uint64_t>& order) {
  std::vector<std::uint64_t> inverse(order.size());
  for (std::uint64_t i = 0; i < order.size(); ++i) inverse[order[i]] = i;
  return inverse;
}

}  // namespace

labels::labels(std::vector<std::uint64_t> ids) : size_(ids.size()) {
  CAIRN_EXPECTS(std::adjacent_find(ids.begin(), ids.end(), std::greater_equal<>()) == ids.end());
  if (ids.empty()) return;
  if (ids.back() - ids.front() == size_ - 1) {
    first_id_ = ids.front();
  } else {
    ids_ = std::make_shared<const std::vector<std::uint64_t>>(std::move(ids));
  }
}

labels::labels(word_list words) : size_(words.size()) {
  CAIRN_EXPECTS(words.ascends());
  words_ = std::make_shared<const word_list>(std::move(words));
}

labels labels::by_vertex(const std::vector<std::uint64_t>& ids) {
  const auto order = ascending(ids.size(), [&](auto a, auto b) { return ids[a] < ids[b]; });
  std::vector<std::uint64_t> sorted;
  sorted.reserve(ids.size());
  for (const auto v : order) sorted.push_back(ids[v]);
  return labels(std::move(sorted)).reordered(vertex_order::listed(inverse_of(order)));
}

labels labels::by_vertex(const word_list& words) {
  const auto order = ascending(words.size(), [&](auto a, auto b) { return words[a] < words[b]; });
  word_list sorted;
  sorted.reserve(words.size(), words.characters().size());
  for (const auto v : order) sorted.push_back(words[v]);
  return labels(std::move(sorted)).reordered(vertex_order::listed(inverse_of(order)));
}

labels labels::reordered(const vertex_order& order) const {
  auto again = *this;
  if (order_.identity()) {
    again.order_ = order;
  } else if (!order.identity()) {
    std::vector<std::uint64_t> positions(size_);
    for (std::uint64_t v = 0; v < size_; ++v) {
      positions[v] = order_.position_of(order.position_of(v));
    }
    again.order_ = vertex_order::listed(positions);
  }
  return again;
}

std::optional<std::uint64_t> labels::vertex_of(std::uint64_t id) const noexcept {
  if (!ids_) {
    return id - first_id_ < size_ ? std::optional(vertex_at(id - first_id_)) : std::nullopt;
  }
  const auto at = std::lower_bound(ids_->begin(), ids_->end(), id);
  if (at == ids_->end() || *at != id) return std::nullopt;
  return vertex_at(static_cast<std::uint64_t>(at - ids_->begin()));
}

std::optional<std::uint64_t> labels::vertex_of(std::string_view id) const noexcept {
  if (words_) {
    const auto position = words_->find(id);
    return position ? std::optional(vertex_at(*position)) : std::nullopt;
  }
  std::uint64_t number = 0;
  const auto* const end = id.data() + id.size();
  const auto [behind, error] = std::from_chars(id.data(), end, number);
  if (error != std::errc() || behind != end) return std::nullopt;
  return vertex_of(number);
}

labels relabel(world& w, io::raw_edges& edges) {
  auto& workers = w.pool();
  if (edges.words) {
    static_cast<void>(keep_ids(workers, edges, edges.words->size()));
    labels names(std::move(*edges.words));
    edges.words.reset();
    return names;
  }
  if (edges.declared_vertices) {
    return keep_ids(workers, edges, *edges.declared_vertices, edges.first_id);
  }
  const auto all = extent_of(w, edges);
  if (all.edges == 0) return labels(0);
  const auto table_limit = std::min<std::uint64_t>(
      std::max(table_ids_at_least, table_ids_per_edge * all.edges), no_vertex<std::uint32_t> - 1);
  if (all.largest < table_limit) {
    id_table occurring(w, edges, all.largest);
    if (occurring.size() == all.largest + 1) return keep_ids(workers, edges, occurring.size());
    rewrite(workers, edges, occurring.size(), occurring);
    return labels(std::move(occurring.ids()));
  }
  id_list occurring(w, edges);
  rewrite(workers, edges, occurring.size(), occurring);
  return labels(std::move(occurring.ids()));
}

std::optional<labels> relabel(world& w, io::raw_edges& edges,
                              const std::vector<std::uint64_t>& ids) {
  const id_list known(ids);
  std::atomic<bool> unknown{false};
  rewrite(w.pool(), edges, ids.size(), [&](std::uint64_t id) {
    const auto at = ids.empty() || id > ids.back() ? ids.size() : known(id);
    if (at < ids.size() && ids[at] == id) return at;
    unknown.store(true, std::memory_order_relaxed);
    return std::uint64_t{0};
  });
  if (w.any(unknown.load())) return std::nullopt;
  return labels(ids);
}

}  // namespace cairn::graph
