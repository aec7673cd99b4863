// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <atomic>

#include <cairn/activity/executor.hpp>
#include <cairn/algo/st_connectivity.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/pgas/vertex_map.hpp>
#include <cairn/traverse/vertex_list.hpp>

namespace cairn::algo {
namespace {

enum class colour : std::uint8_t { white, grey, green };
constexpr std::size_t chunk_vertices = 64;

template <class Id>
struct two_searches {
  struct visit {  // fire and return, always succeeds: [AAM15] listing 5
    struct message {
      Id v;
      colour mine;
    };
    pgas::vertex_view<colour> colours;
    two_searches& s;

    auto cell(const message& m) const { return colours.at(m.v); }
    bool wanted(colour found, const message& m) const { return found != m.mine; }
    colour attempt(auto c, const message& m) const { return c.claim(colour::white, m.mine); }
    void after(const message& m, colour found, auto& at) {
      if (found == colour::white) s.reach(at.worker(), m.v, m.mine);
    }
    void answer(const message& m, const activity::outcome<colour>& found) {
      if (found.done && found.value != colour::white && found.value != m.mine) {
        s.met.store(true, std::memory_order_relaxed);
      }
    }
  };

  two_searches(world& world, const graph::dist_csr<Id>& graph, const st_connectivity_options& opt)
      : w(world),
        g(graph),
        colours(w, g.partition(), colour::white),
        visits(w, visit{colours.view(), *this}, opt.activity),
        lists{{{w, colours.local().size()}, {w, colours.local().size()}}} {}

  traverse::vertex_list<Id>& list_of(colour c) { return lists[c == colour::grey ? 0 : 1]; }
  void reach(worker_t k, Id v, colour c) { list_of(c).add(k, v); }

  // Vertices that a search reached last, on all ranks.
  std::uint64_t slide(colour c) { return w.sum(std::uint64_t{list_of(c).slide().size()}); }

  void start(Id v, colour c) {
    if (!colours.owns(v)) return;
    colours.store(v, c);
    reach(0, v, c);
  }

  void expand(colour c) {
    const auto& rows = c == colour::grey ? g.out() : g.in();
    const auto frontier = list_of(c).window();
    am::epoch epoch(w);
    w.parallel_for(
        frontier.size(),
        [&](worker_t k, std::size_t begin, std::size_t end) {
          visits.spawn(k, [&](auto& send) {
            for (const Id u : frontier.subspan(begin, end - begin)) {
              if (met.load(std::memory_order_relaxed)) return;
              for (const Id v : rows.neighbors(u)) send({v, c});
            }
          });
        },
        chunk_vertices);
    epoch.close();
  }

  world& w;
  const graph::dist_csr<Id>& g;
  pgas::vertex_map<colour> colours;
  activity::executor<visit> visits;
  std::array<traverse::vertex_list<Id>, 2> lists;
  std::atomic<bool> met = false;
};

}  // namespace

template <class Id>
st_connectivity_result st_connectivity(world& w, const graph::dist_csr<Id>& g, Id s, Id t,
                                       const st_connectivity_options& opt) {
  CAIRN_EXPECTS(s < g.num_vertices() && t < g.num_vertices());
  CAIRN_EXPECTS(g.has_in(), "the search from t goes against the edges: load with .inverse = true");
  two_searches<Id> both(w, g, opt);
  st_connectivity_result r{.connected = s == t, .levels = 0, .visited = s == t ? 1u : 2u};
  both.start(s, colour::grey);
  if (!r.connected) both.start(t, colour::green);
  auto grey = both.slide(colour::grey), green = both.slide(colour::green);
  // Where one search has ended without meeting the other, no path exists.
  while (!r.connected && grey != 0 && green != 0) {
    const auto smaller = grey <= green ? colour::grey : colour::green;
    both.expand(smaller);
    auto& frontier = smaller == colour::grey ? grey : green;
    frontier = both.slide(smaller);
    r.visited += frontier;
    r.connected = w.any(both.met);
    ++r.levels;
  }
  r.ran = both.visits.ran();
  return r;
}

template st_connectivity_result st_connectivity(world&, const graph::dist_csr<std::uint32_t>&,
                                                std::uint32_t, std::uint32_t,
                                                const st_connectivity_options&);
template st_connectivity_result st_connectivity(world&, const graph::dist_csr<std::uint64_t>&,
                                                std::uint64_t, std::uint64_t,
                                                const st_connectivity_options&);

}  // namespace cairn::algo
