// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include <cairn/algo/verify_mst.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/traverse/own.hpp>

#include "algo/sort.hpp"
#include "algo/weights.hpp"

namespace cairn::algo {
namespace {

enum class broken_rule : std::uint32_t {
  none,
  no_such_edge,
  other_weight,
  twice,
  cycle,
  not_spanned,
  not_least
};

struct violation {
  broken_rule rule = broken_rule::none;
  std::uint64_t source = 0, target = 0;
};

violation first_of(const violation& a, const violation& b) {
  if (a.rule == broken_rule::none) return b;
  if (b.rule == broken_rule::none) return a;
  return std::tie(b.rule, b.source, b.target) < std::tie(a.rule, a.source, a.target) ? b : a;
}

std::string to_sentence(const violation& f, const graph::labels& names) {
  const auto id = [&](std::uint64_t v) {
    return v < names.size() ? names.text_of(v) : std::string("(no vertex)");
  };
  const auto edge = "edge " + id(f.source) + " - " + id(f.target);
  switch (f.rule) {
    case broken_rule::no_such_edge:
      return "the forest's " + edge + " is not an edge of the graph";
    case broken_rule::other_weight:
      return "the forest's " + edge + " has another weight in the graph";
    case broken_rule::twice:
      return "the forest has " + edge + " twice";
    case broken_rule::cycle:
      return "the forest has a cycle, to which " + edge + " belongs";
    case broken_rule::not_spanned:
      return "the forest does not connect the ends of " + edge;
    default:
      return "the forest is not minimal: " + edge +
             " is lighter than an edge on the forest path between its endpoints";
  }
}

constexpr std::uint64_t never = ~std::uint64_t{0};

/// Trees of logarithmic depth that record when each vertex was joined to its parent.
class joined_trees {
 public:
  explicit joined_trees(std::uint64_t n) : parent_(n), size_(n, 1), time_(n, never) {
    for (std::uint64_t v = 0; v < n; ++v) parent_[v] = v;
  }

  /// Times ascend from call to call. Returns false if u and v are already in one tree.
  bool join(std::uint64_t u, std::uint64_t v, std::uint64_t time) {
    while (parent_[u] != u) u = parent_[u];
    while (parent_[v] != v) v = parent_[v];
    if (u == v) return false;
    if (size_[u] > size_[v]) std::swap(u, v);
    parent_[u] = v;
    size_[v] += size_[u];
    time_[u] = time;
    return true;
  }

  /// Time at which u and v != u came into one tree. Times increase towards the root, so the step
  /// with the earlier time cannot pass the common ancestor.
  [[nodiscard]] std::uint64_t together_since(std::uint64_t u, std::uint64_t v) const {
    std::uint64_t since = 0;
    while (u != v) {
      if (time_[u] > time_[v]) std::swap(u, v);
      since = time_[u];
      if (since == never) break;
      u = parent_[u];
    }
    return since;
  }

 private:
  std::vector<std::uint64_t> parent_, size_, time_;
};

// The rule that an edge violates alone.
template <class Id>
broken_rule broken_by(const graph::dist_csr<Id>& g, const mst_edge<Id>& e) {
  using enum broken_rule;
  const auto& rows = g.out();
  if (e.source < rows.first() || e.source >= rows.last() || e.source > e.target) {
    return no_such_edge;
  }
  const auto row = rows.neighbors(e.source);
  const auto [begin, end] = std::ranges::equal_range(row, e.target);
  for (auto at = begin; at != end; ++at) {
    if (weight_at(rows, e.source, static_cast<std::size_t>(at - row.begin())) == e.weight) {
      return none;
    }
  }
  return begin == end ? no_such_edge : other_weight;
}

}  // namespace

template <class Id>
std::optional<std::string> verify_mst(world& w, const graph::dist_csr<Id>& g,
                                      std::span<const mst_edge<Id>> edges) {
  CAIRN_EXPECTS(!g.directed(),
                "undirected edges are needed: build or load the graph with .symmetrize = true");
  violation mine;
  const auto agreed = [&] {
    violation all;
    for (const auto& f : w.all_gather(mine)) all = first_of(all, f);
    return all;
  };
  task::per_worker<violation> found(w.workers());
  const auto gather_found = [&] {
    for (const auto& f : found) mine = first_of(mine, f.value);
  };
  constexpr double ns_of_edge = 200;  // a binary search
  traverse::for_each_of(
      w, edges,
      [&](worker_t k, const mst_edge<Id>& e) {
        found[k] = first_of(found[k], {broken_by(g, e), e.source, e.target});
      },
      ns_of_edge);
  gather_found();
  if (const auto f = agreed(); f.rule != broken_rule::none) return to_sentence(f, g.labels());

  auto forest = w.all_gather_values<mst_edge<Id>>(edges);
  sort_interruptibly(w, forest, [](const auto& a, const auto& b) {
    return std::tie(a.weight, a.source, a.target) < std::tie(b.weight, b.source, b.target);
  });
  joined_trees trees(g.num_vertices());
  for (std::uint64_t time = 0; time < forest.size(); ++time) {
    if (time % 4096 == 0) w.pool().throw_if_interrupted();
    const auto& e = forest[time];
    if (!trees.join(e.source, e.target, time)) {
      const bool again = time != 0 && forest[time - 1] == e;
      mine = first_of(mine, {again ? broken_rule::twice : broken_rule::cycle, e.source, e.target});
    }
  }
  if (const auto f = agreed(); f.rule != broken_rule::none) return to_sentence(f, g.labels());

  const auto& rows = g.out();
  constexpr double ns_of_vertex = 1000;  // some edges, each with several dependent loads
  traverse::for_each_own(
      w, rows,
      [&](worker_t k, Id v) {
        const auto row = rows.neighbors(v);
        for (std::size_t i = 0; i < row.size() && row[i] < v; ++i) {
          const auto since = trees.together_since(v, row[i]);
          if (since == never) {
            found[k] = first_of(found[k], {broken_rule::not_spanned, row[i], v});
          } else if (weight_at(rows, v, i) < forest[since].weight) {
            found[k] = first_of(found[k], {broken_rule::not_least, row[i], v});
          }
        }
      },
      ns_of_vertex);
  gather_found();
  if (const auto f = agreed(); f.rule != broken_rule::none) return to_sentence(f, g.labels());
  return std::nullopt;
}

template std::optional<std::string> verify_mst(world&, const graph::dist_csr<std::uint32_t>&,
                                               std::span<const mst_edge<std::uint32_t>>);
template std::optional<std::string> verify_mst(world&, const graph::dist_csr<std::uint64_t>&,
                                               std::span<const mst_edge<std::uint64_t>>);

}  // namespace cairn::algo
