// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <atomic>

#include <cairn/activity/executor.hpp>
#include <cairn/algo/st_connectivity.hpp>
#include <cairn/pgas/vertex_map.hpp>
#include <cairn/traverse/push.hpp>

namespace cairn::algo {
namespace {

enum class color : std::uint8_t { white, grey, green };

template <class Id>
struct two_searches {
  struct visit {  // fire and return, always succeeds: [AAM15] listing 5
    struct message {
      Id v;
      color mine;
    };
    pgas::vertex_view<color> colors;
    two_searches& s;

    auto cell(const message& m) const { return colors.at(m.v); }
    bool wanted(color found, const message& m) const { return found != m.mine; }
    color attempt(auto c, const message& m) const { return c.claim(color::white, m.mine); }
    void after(const message& m, color found, auto& at) {
      if (found == color::white) s.frontier(m.mine).add(at.worker(), m.v);
    }
    void answer(const message& m, const activity::outcome<color>& found) {
      if (found.done && found.value != color::white && found.value != m.mine) {
        s.searches_met.store(true, std::memory_order_relaxed);
      }
    }
  };

  two_searches(world& world, const graph::dist_csr<Id>& graph, const st_connectivity_options& opt)
      : w(world),
        g(graph),
        colors(w, g.partition(), color::white),
        visits(w, visit{colors.view(), *this}, opt.activity),
        from_s(w),
        from_t(w) {}

  traverse::worklist<Id>& frontier(color c) { return c == color::grey ? from_s : from_t; }

  void start(Id v, color c) {
    if (!colors.owns(v)) return;
    colors.store(v, c);
    frontier(c).add(main_worker, v);
  }

  // Returns, over all ranks, the vertices reached and the number of ranks where the searches met.
  std::array<std::uint64_t, 2> expand(color c) {
    const traverse::edges<Id> edges = c == color::grey ? g.out() : g.in();
    const auto visit_row = [&](Id, std::span<const Id> row, auto& send) {
      if (searches_met.load(std::memory_order_relaxed)) return;
      for (const Id v : row) send({v, c});
    };
    const auto list = frontier(c).take();
    return traverse::push_along(w, visits, edges, list, visit_row, [&](am::epoch& e) {
      return e.close_and_sum([&] {
        return std::array<std::uint64_t, 2>{frontier(c).size(), searches_met ? 1u : 0u};
      });
    });
  }

  world& w;
  const graph::dist_csr<Id>& g;
  pgas::vertex_map<color> colors;
  activity::executor<visit> visits;
  traverse::worklist<Id> from_s, from_t;
  std::atomic<bool> searches_met = false;
};

}  // namespace

template <class Id>
st_connectivity_result st_connectivity(world& w, const graph::dist_csr<Id>& g,
                                       const terminals<std::type_identity_t<Id>>& ends,
                                       const st_connectivity_options& opt) {
  const auto [s, t] = ends;
  CAIRN_EXPECTS(s < g.num_vertices() && t < g.num_vertices());
  g.expect_in();
  two_searches<Id> both(w, g, opt);
  st_connectivity_result r{.connected = s == t, .levels = 0, .visited = s == t ? 1u : 2u};
  both.start(s, color::grey);
  if (!r.connected) both.start(t, color::green);
  std::uint64_t grey = 1, green = 1;  // vertices of the frontiers
  // If one search ends without meeting the other, there is no path.
  while (!r.connected && grey != 0 && green != 0) {
    const auto smaller = grey <= green ? color::grey : color::green;
    const auto [reached, met] = both.expand(smaller);
    (smaller == color::grey ? grey : green) = reached;
    r.visited += reached;
    r.connected = met != 0;
    ++r.levels;
  }
  r.ran = both.visits.ran();
  return r;
}

template st_connectivity_result st_connectivity(world&, const graph::dist_csr<std::uint32_t>&,
                                                const terminals<std::uint32_t>&,
                                                const st_connectivity_options&);
template st_connectivity_result st_connectivity(world&, const graph::dist_csr<std::uint64_t>&,
                                                const terminals<std::uint64_t>&,
                                                const st_connectivity_options&);

}  // namespace cairn::algo
