// SPDX-License-Identifier: Apache-2.0
#include "declared_ids.hpp"

#include <algorithm>
#include <numeric>
#include <type_traits>

#include <cairn/base/error.hpp>

#include "rows.hpp"

namespace cairn::graph::io {
namespace {

constexpr std::size_t rows_per_piece = 4096;

/// The vertices in the order of their ids; empty if vertex v has id v + 1 for all v, or nothing if
/// the ids are not 1 to n.
std::optional<std::vector<std::uint64_t>> order_of_ids(task::pool& workers, const native_graph& g) {
  const auto n = g.num_vertices();
  if (g.words != nullptr) return std::nullopt;
  std::uint64_t in_place = 0;
  while (in_place < n && g.label_of(in_place) == in_place + 1) ++in_place;
  std::vector<std::uint64_t> order;
  if (in_place == n) return order;
  order.assign(n, n);
  for (std::uint64_t v = 0; v < n; ++v) {
    const auto id = g.label_of(v);
    if (id == 0 || id > n || order[id - 1] != n) return std::nullopt;
    order[id - 1] = v;
    if (v % rows_per_piece == 0) workers.throw_if_interrupted();
  }
  return order;
}

/// The entries of g, whose rows take this order and whose targets become their ids minus 1.
template <class Id, class Weight>
void permute(task::pool& workers, const native_graph& g, const std::vector<std::uint64_t>& order,
             std::span<const Id> targets, std::span<const Weight> weights, graph_by_ids& to) {
  to.offsets.resize(order.size() + 1);
  for (std::size_t i = 0; i < order.size(); ++i) {
    to.offsets[i + 1] = to.offsets[i] + g.offsets[order[i] + 1] - g.offsets[order[i]];
    if (i % rows_per_piece == 0) workers.throw_if_interrupted();
  }
  auto& new_targets = to.targets.template emplace<std::vector<Id>>(targets.size());
  std::vector<Weight> new_weights(weights.size());
  task::parallel_for(workers, {.elements = order.size(), .chunk = rows_per_piece},
                     [&](worker_t, std::size_t place, std::size_t last) {
                       std::vector<std::uint64_t> row;
                       for (; place < last; ++place) {
                         row.resize(to.offsets[place + 1] - to.offsets[place]);
                         std::iota(row.begin(), row.end(), g.offsets[order[place]]);
                         std::stable_sort(row.begin(), row.end(),
                                          [&](std::uint64_t a, std::uint64_t b) {
                                            return g.label_of(targets[a]) < g.label_of(targets[b]);
                                          });
                         for (std::size_t i = 0; i < row.size(); ++i) {
                           const auto at = to.offsets[place] + i;
                           new_targets[at] = static_cast<Id>(g.label_of(targets[row[i]]) - 1);
                           if (!weights.empty()) new_weights[at] = weights[row[i]];
                         }
                       }
                     });
  to.g.offsets = to.offsets;
  to.g.targets = std::span<const Id>(new_targets);
  if constexpr (!std::is_same_v<Weight, char>) {
    to.g.weights = std::span<const Weight>(
        to.weights.template emplace<std::vector<Weight>>(std::move(new_weights)));
  }
}

std::string id_text(std::uint64_t v) { return std::to_string(v + 1); }

}  // namespace

graph_by_ids by_declared_ids(task::pool& workers, const std::string& path, const native_graph& g,
                             const std::string& format) {
  if (g.num_vertices() == 0) {
    throw usage_error(path + ": " + format + " has vertices, but this graph has none");
  }
  const auto order = order_of_ids(workers, g);
  if (!order) {
    throw usage_error(path + ": " + format +
                      " requires the vertex ids 1 to n, but this graph has other ids (--renumber)");
  }
  graph_by_ids found;
  found.g = g;
  if (order->empty()) return found;
  std::visit(
      [&](auto targets, auto weights) {
        if constexpr (std::is_same_v<decltype(weights), std::monostate>) {
          permute(workers, g, *order, targets, std::span<const char>(), found);
        } else {
          permute(workers, g, *order, targets, weights, found);
        }
      },
      g.targets, g.weights);
  std::vector<std::uint64_t> ids(order->size());
  std::iota(ids.begin(), ids.end(), std::uint64_t{1});
  auto kept = std::make_shared<const std::vector<std::uint64_t>>(std::move(ids));
  found.g.labels = *kept;
  found.g.kept.push_back(std::move(kept));
  return found;
}

void expect_simple(task::pool& workers, const std::string& path, const native_graph& g,
                   const std::string& format) {
  if (g.directed) {
    throw usage_error(path + ": " + format +
                      " holds undirected graphs, but this graph is directed (--symmetrize)");
  }
  std::visit(
      [&](auto targets) {
        const auto loop = first_row(
            workers, g, [&](std::uint64_t row, std::uint64_t i) { return targets[i] == row; });
        if (loop) {
          throw usage_error(path + ": " + format + " holds no self-loops, but vertex " +
                            id_text(*loop) + " has one (--drop-self-loops)");
        }
        const auto parallel = first_row(workers, g, [&](std::uint64_t row, std::uint64_t i) {
          return i != g.offsets[row] && targets[i] == targets[i - 1];
        });
        if (parallel) {
          throw usage_error(path + ": " + format + " holds an edge once, but vertex " +
                            id_text(*parallel) + " has parallel edges (--drop-duplicates)");
        }
      },
      g.targets);
}

void expect_integers(task::pool& workers, const std::string& path, const native_graph& g,
                     const std::string& format, std::int32_t least) {
  const auto* const whole = std::get_if<1>(&g.weights);
  if (g.weights.index() == 0) {
    throw usage_error(path + ": " + format + " has weights, but this graph has none");
  }
  if (whole == nullptr) {
    throw usage_error(path + ": the weights of " + format +
                      " must be 32-bit integers, but this graph has others");
  }
  const auto less =
      first_row(workers, g, [&](std::uint64_t, std::uint64_t i) { return (*whole)[i] < least; });
  if (!less) return;
  throw usage_error(path + ": the weights of " + format + " are at least " + std::to_string(least) +
                    ", but an edge of vertex " + id_text(*less) + " has a smaller one");
}

}  // namespace cairn::graph::io
