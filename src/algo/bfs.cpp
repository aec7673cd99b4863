// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>
#include <variant>

#include <cairn/algo/bfs.hpp>
#include <cairn/algo/sssp.hpp>
#include <cairn/traverse/advance.hpp>
#include <cairn/traverse/frontier.hpp>
#include <cairn/traverse/small_run.hpp>

namespace cairn::algo {
namespace {

template <class Id>
struct visit {  // fire and forget, may fail: the first visit of v wins
  struct message {
    Id v, parent;
  };
  static constexpr bool once = true, sends = false, prefiltered = true;
  static message along(Id u, Id v) { return {v, u}; }

  pgas::vertex_view<Id> parents;
  traverse::frontier<Id>& frontier;
  pgas::vertex_map<Id>* depth;  // nullptr unless depths are requested
  const Id& level;

  auto cell(const message& m) const { return parents.at(m.v); }
  bool wanted(Id parent, const message&) const { return parent == no_vertex<Id>; }
  bool attempt(auto parent, const message& m) const {
    return parent.claim(no_vertex<Id>, m.parent) == no_vertex<Id>;
  }
  [[gnu::always_inline]] void after(const message& m, auto& at) {
    frontier.add(at.worker(), m.v);
    if (depth) depth->store(m.v, level);
  }
};

template <class Id>
bfs_result<Id> search_without_levels(world& w, const graph::dist_csr<Id>& g, Id root,
                                     const bfs_options& opt) {
  CAIRN_EXPECTS(!g.weighted(), "a search without levels is for a graph without weights");
  const auto by = opt.algorithm == bfs_method::chaotic ? sssp_method::chaotic
                                                       : sssp_method::distributed_control;
  auto found = std::get<sssp_result<Id>>(
      sssp(w, g, root, {.activity = opt.activity, .algorithm = by, .predecessors = true},
           edge_lengths{.longest = 1, .delta = 1}));
  pgas::vertex_map<Id> parent(w, g.partition(), no_vertex<Id>);
  std::ranges::transform(found.predecessor->local(), parent.local().begin(),
                         [](std::uint64_t v) { return static_cast<Id>(v); });
  bfs_result<Id> r{.parent = std::move(parent), .depth = {}, .ran = found.ran};
  if (opt.depths) r.depth.emplace(std::move(found.distance));
  r.algorithm = found.algorithm;
  r.relaxations = found.relaxations;
  return r;
}

template <class Id>
bfs_result<Id> search_by_levels(world& w, const graph::dist_csr<Id>& g, Id root,
                                const bfs_options& opt) {
  traverse::small_run on_workers(w, g, opt.activity, traverse::run_kind::breadth_first);
  pgas::vertex_map<Id> parent(w, g.partition(), no_vertex<Id>);
  std::optional<pgas::vertex_map<Id>> depth;
  if (opt.depths) depth.emplace(w, g.partition(), no_vertex<Id>);
  traverse::frontier<Id> frontier(w, g.partition());
  Id level = 0;
  traverse::advance<Id, visit<Id>> search(
      w, g, frontier, {parent.view(), frontier, depth ? &*depth : nullptr, level},
      {.activity = opt.activity, .direction = opt.direction, .trace = opt.trace});

  if (parent.owns(root)) {
    parent.store(root, root);
    frontier.add(main_worker, root);
    if (depth) depth->store(root, level);
  }
  do {
    ++level;
  } while (search.superstep());
  on_workers.reached(search.num_reached());

  return {.parent = std::move(parent),
          .depth = std::move(depth),
          .ran = search.executor().ran(),
          .levels = search.num_supersteps(),
          .bottom_up_levels = search.num_pulls(),
          .trace = search.take_trace()};
}

}  // namespace

template <class Id>
bfs_result<Id> bfs(world& w, const graph::dist_csr<Id>& g, Id root, const bfs_options& opt) {
  CAIRN_EXPECTS(root < g.num_vertices());
  return by_levels(opt.algorithm) ? search_by_levels(w, g, root, opt)
                                  : search_without_levels(w, g, root, opt);
}

template bfs_result<std::uint32_t> bfs(world&, const graph::dist_csr<std::uint32_t>&, std::uint32_t,
                                       const bfs_options&);
template bfs_result<std::uint64_t> bfs(world&, const graph::dist_csr<std::uint64_t>&, std::uint64_t,
                                       const bfs_options&);

}  // namespace cairn::algo
