// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>
#include <vector>

#include <cairn/activity/executor.hpp>
#include <cairn/algo/bfs.hpp>
#include <cairn/algo/frontier.hpp>
#include <cairn/am/epoch.hpp>

namespace cairn::algo {
namespace {

// When to change direction, in the words of [Beamer12]: go bottom-up when the frontier's edges
// exceed 1/alpha of the edges not yet looked at; come back when it shrinks below n/beta.
constexpr double alpha = 15;
constexpr std::uint64_t beta = 18;
constexpr std::size_t chunk_bits = 1024;

// A chunk of frontier vertices is short where workers share a frontier, because degrees differ.
std::size_t chunk_vertices(int workers) { return workers == 1 ? 256 : 64; }

constexpr std::size_t ahead = 16;  // frontier vertices between asking for a row and using it

template <class Id>
struct search {
  struct visit {  // the operator: the first visit of v wins
    struct message {
      Id v, parent;
    };
    static constexpr bool permanent = true;
    pgas::vertex_view<Id> parents;
    search& s;

    auto cell(const message& m) const { return parents.at(m.v); }
    bool wanted(Id parent, const message&) const { return parent == no_vertex<Id>; }
    bool attempt(auto parent, const message& m) const {
      return parent.claim(no_vertex<Id>, m.parent) == no_vertex<Id>;
    }
    void after(const message& m, auto& at) { s.reached(at.worker(), m.v); }
  };

  search(world& world, const graph::dist_csr<Id>& graph, const bfs_options& opt)
      : w(world),
        g(graph),
        parent(w, g.partition(), no_vertex<Id>),
        visits(w, visit{parent.view(), *this}, opt.activity),
        list(w.workers(), parent.local().size()),
        found(w.workers()) {
    if (opt.depths) depth.emplace(w, g.partition(), no_vertex<Id>);
  }

  void reached(worker_t k, Id v) {
    list.add(k, v);
    if (depth) depth->store(v, level);
  }
  void found_bottom_up(worker_t k, Id v) {
    ++found[k];
    if (depth) depth->store(v, level);
  }

  // Makes what was reached the frontier; returns how many vertices it has on all ranks.
  std::uint64_t next_list() { return w.sum(list.slide().size()); }

  std::uint64_t edges_of_frontier() {
    std::uint64_t mine = 0;
    for (const Id v : list.window()) mine += g.out().degree(v);
    return w.sum(mine);
  }

  // Calls f(v, row) for each vertex of a list in random order, its row on the way to the cache.
  template <class F>
  static void walk(const graph::csr<Id>& graph, std::span<const Id> vertices, F&& f) {
    const auto rows = graph.rows();
    const auto n = vertices.size();
    for (std::size_t i = 0; i < n; ++i) {
      if (i + 2 * ahead < n) rows.prefetch_offset(vertices[i + 2 * ahead]);
      if (i + ahead < n) rows.prefetch_row(vertices[i + ahead]);
      f(vertices[i], rows.neighbors(vertices[i]));
    }
  }

  std::uint64_t top_down() {
    am::epoch epoch(w);
    const auto frontier = list.window();
    w.parallel_for(
        frontier.size(),
        [&](worker_t k, std::size_t begin, std::size_t end) {
          std::uint64_t edges = 0;
          visits.spawn(k, [&](auto& send) {
            walk(g.out(), frontier.subspan(begin, end - begin), [&](Id u, auto row) {
              edges += row.size();
              for (const Id v : row) send({v, u});
            });
          });
          w.counters().add(k, obs::counter::edges, edges);
        },
        chunk_vertices(w.workers()));
    epoch.close();
    return next_list();
  }

  // The vertex v is this worker's alone: a plain store suffices.
  bool find_parent(Id v, std::span<const Id> row, std::uint64_t& edges) {
    for (const Id& u : row) {
      if (front[u]) {
        edges += static_cast<std::uint64_t>(&u - row.data()) + 1;
        parent.store(v, u);
        return true;
      }
    }
    edges += row.size();
    return false;
  }

  std::uint64_t bottom_up() {
    w.all_gather_bits(next.words(), parent.local().size(), front.storage());
    next.clear();
    const auto first = parent.first();
    const auto& in = g.in();
    if (!swept) {  // the first time, look at every vertex and remember those without luck
      w.parallel_for(
          parent.local().size(),
          [&](worker_t k, std::size_t begin, std::size_t end) {
            std::uint64_t edges = 0;
            for (auto v = static_cast<Id>(first + begin); v < first + end; ++v) {
              if (parent.load(v) != no_vertex<Id>) continue;
              if (find_parent(v, in.neighbors(v), edges)) {
                next.set(v - first);
                found_bottom_up(k, v);
              } else if (in.degree(v) != 0) {
                unvisited->add(k, v);
              }
            }
            w.counters().add(k, obs::counter::edges, edges);
          },
          chunk_bits);
      swept = true;
    } else {
      const auto left = unvisited->window();
      w.parallel_for(left.size(), [&](worker_t k, std::size_t begin, std::size_t end) {
        std::uint64_t edges = 0;
        walk(in, left.subspan(begin, end - begin), [&](Id v, auto row) {
          if (parent.load(v) != no_vertex<Id>) return;
          if (find_parent(v, row, edges)) {
            next.set_shared(v - first);
            found_bottom_up(k, v);
          } else {
            still_unvisited->add(k, v);
          }
        });
        w.counters().add(k, obs::counter::edges, edges);
      });
      unvisited->clear();
      std::swap(unvisited, still_unvisited);
    }
    unvisited->slide();
    std::uint64_t mine = 0;
    for (auto& f : found) mine += std::exchange(f.value, 0);
    return w.sum(mine);
  }

  void list_to_bits() {
    if (!unvisited) {
      next = bit_set(parent.local().size());
      const auto own = parent.local().size();
      unvisited = std::make_unique<sliding_list<Id>>(w.workers(), own);
      still_unvisited = std::make_unique<sliding_list<Id>>(w.workers(), own);
    }
    next.clear();
    for (const Id v : list.window()) next.set(v - parent.first());
  }

  void bits_to_list() {
    w.parallel_for(next.words().size(), [&](worker_t k, std::size_t begin, std::size_t end) {
      next.for_each(begin, end,
                    [&](std::size_t i) { list.add(k, static_cast<Id>(parent.first() + i)); });
    });
    list.slide();
  }

  world& w;
  const graph::dist_csr<Id>& g;
  pgas::vertex_map<Id> parent;
  std::optional<pgas::vertex_map<Id>> depth;
  activity::executor<visit> visits;
  sliding_list<Id> list;  // the frontier's own vertices, top-down
  bit_set front, next;    // the whole frontier, and the next one's own vertices, bottom-up
  std::unique_ptr<sliding_list<Id>> unvisited, still_unvisited;
  bool swept = false;
  task::per_worker<std::uint64_t> found;  // vertices of the next frontier, bottom-up
  Id level = 0;
};

}  // namespace

template <class Id>
bfs_result<Id> bfs(world& w, const graph::dist_csr<Id>& g, Id root, const bfs_options& opt) {
  CAIRN_EXPECTS(root < g.num_vertices());
  search<Id> s(w, g, opt);
  if (s.parent.owns(root)) {
    s.parent.store(root, root);
    s.reached(0, root);
  }

  bool as_bits = false;
  std::uint64_t bottom_up_levels = 0;
  const auto n = g.num_vertices(), arcs = g.directed() ? g.num_edges() : 2 * g.num_edges();
  auto unseen = static_cast<double>(arcs);
  std::vector<bfs_level> trace;
  auto since = opt.trace ? w.clock().now_ns() : 0;
  auto sent = opt.trace ? w.counters().total(obs::counter::messages_sent) : 0;
  for (std::uint64_t before = 0, frontier = s.next_list(); frontier != 0;) {
    ++s.level;
    bool bottom_up = opt.direction == bfs_direction::bottom_up;
    if (opt.direction == bfs_direction::automatic && g.has_in()) {
      if (as_bits) {
        bottom_up = frontier >= before || frontier > n / beta;
      } else {  // a large frontier need not be measured: its edges are many
        auto edges =
            static_cast<double>(frontier) * static_cast<double>(arcs) / static_cast<double>(n);
        if (edges <= unseen / alpha) edges = static_cast<double>(s.edges_of_frontier());
        bottom_up = edges > unseen / alpha;
        unseen -= edges;
      }
    }
    before = frontier;
    if (bottom_up) {
      if (!as_bits) s.list_to_bits();
      frontier = s.bottom_up();
      ++bottom_up_levels;
    } else {
      if (as_bits) s.bits_to_list();
      frontier = s.top_down();
    }
    as_bits = bottom_up;
    if (opt.trace) {
      const auto now = w.clock().now_ns();
      const auto ns = now - std::exchange(since, now);
      const auto all_sent = w.counters().total(obs::counter::messages_sent);
      const auto messages = all_sent - std::exchange(sent, all_sent);
      trace.push_back({before, bottom_up, static_cast<double>(ns) * 1e-9, messages});
    }
  }
  return {std::move(s.parent), std::move(s.depth), s.visits.how(),
          s.visits.grain(),    s.visits.why(),     s.level,
          bottom_up_levels,    std::move(trace)};
}

template bfs_result<std::uint32_t> bfs(world&, const graph::dist_csr<std::uint32_t>&, std::uint32_t,
                                       const bfs_options&);
template bfs_result<std::uint64_t> bfs(world&, const graph::dist_csr<std::uint64_t>&, std::uint64_t,
                                       const bfs_options&);

}  // namespace cairn::algo
