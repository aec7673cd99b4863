// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <cairn/algo/bfs.hpp>
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
  static constexpr bool once = true, sends = false;
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

}  // namespace

template <class Id>
bfs_result<Id> bfs(world& w, const graph::dist_csr<Id>& g, Id root, const bfs_options& opt) {
  CAIRN_EXPECTS(root < g.num_vertices());
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

  return {std::move(parent),       std::move(depth),   search.executor().ran(),
          search.num_supersteps(), search.num_pulls(), search.take_trace()};
}

template bfs_result<std::uint32_t> bfs(world&, const graph::dist_csr<std::uint32_t>&, std::uint32_t,
                                       const bfs_options&);
template bfs_result<std::uint64_t> bfs(world&, const graph::dist_csr<std::uint64_t>&, std::uint64_t,
                                       const bfs_options&);

}  // namespace cairn::algo
