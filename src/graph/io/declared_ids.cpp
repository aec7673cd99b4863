// SPDX-License-Identifier: Apache-2.0
#include "declared_ids.hpp"

#include <algorithm>
#include <numeric>
#include <type_traits>

#include <cairn/base/error.hpp>

#include "rows.hpp"

namespace cairn::graph::io {
namespace {

/// The vertices in the order of their ids; empty if vertex v has id v + 1 for all v, or nothing if
/// the ids are not 1 to n.
std::optional<std::vector<std::uint64_t>> order_of_ids(const native_graph& g) {
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
  }
  return order;
}

/// The entries of g, whose rows take this order and whose targets become their ids minus 1.
template <class Id, class Weight>
void permute(const native_graph& g, const std::vector<std::uint64_t>& order,
             std::span<const Id> targets, std::span<const Weight> weights, graph_by_ids& to) {
  auto& new_targets = to.targets.template emplace<std::vector<Id>>();
  std::vector<Weight> new_weights;
  std::vector<std::uint64_t> row;
  to.offsets.push_back(0);
  for (const auto v : order) {
    const auto begin = g.offsets[v], end = g.offsets[v + 1];
    row.resize(end - begin);
    std::iota(row.begin(), row.end(), begin);
    std::stable_sort(row.begin(), row.end(), [&](std::uint64_t a, std::uint64_t b) {
      return g.label_of(targets[a]) < g.label_of(targets[b]);
    });
    for (const auto i : row) {
      new_targets.push_back(static_cast<Id>(g.label_of(targets[i]) - 1));
      if (!weights.empty()) new_weights.push_back(weights[i]);
    }
    to.offsets.push_back(new_targets.size());
  }
  to.g.offsets = to.offsets;
  to.g.targets = std::span<const Id>(new_targets);
  if constexpr (!std::is_same_v<Weight, char>) {
    to.g.weights = std::span<const Weight>(
        to.weights.template emplace<std::vector<Weight>>(std::move(new_weights)));
  }
}

std::string id_text(std::uint64_t v) { return std::to_string(v + 1); }

}  // namespace

graph_by_ids by_declared_ids(const std::string& path, const native_graph& g,
                             const std::string& format) {
  if (g.num_vertices() == 0) {
    throw usage_error(path + ": " + format + " has vertices, but this graph has none");
  }
  const auto order = order_of_ids(g);
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
          permute(g, *order, targets, std::span<const char>(), found);
        } else {
          permute(g, *order, targets, weights, found);
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
                            id_text(*loop) + " has one");
        }
        const auto parallel = first_row(workers, g, [&](std::uint64_t row, std::uint64_t i) {
          return i != g.offsets[row] && targets[i] == targets[i - 1];
        });
        if (parallel) {
          throw usage_error(path + ": " + format + " holds an edge once, but vertex " +
                            id_text(*parallel) + " has parallel edges");
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
