// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <cairn/activity/executor.hpp>
#include <cairn/algo/coloring.hpp>
#include <cairn/base/random.hpp>
#include <cairn/traverse/push.hpp>

#include "algo/mirror.hpp"
#include "algo/palette.hpp"

namespace cairn::algo {
namespace {

constexpr auto none = no_vertex<std::uint32_t>;  // uncolored

template <class Id>
struct coloring_state {
  struct resolve_conflict {  // fire and return, may fail: [AAM15] listing 6
    struct message {
      Id v, spawner;  // both took this color in this round; v == spawner: withdraw it
      std::uint32_t color;
    };
    pgas::vertex_view<std::uint32_t> colors;
    coloring_state& s;

    auto cell(const message& m) const { return colors.at(m.v); }
    bool wanted(std::uint32_t x, const message& m) const { return x == m.color; }
    // Returns the vertex that loses its color, or no_vertex if the colors now differ.
    activity::outcome<Id> attempt(auto x, const message& m) const {
      const bool loses = s.target_loses(m);
      const bool agree = (loses ? x.claim(m.color, none) : x.load()) == m.color;
      return {agree && loses, !agree ? no_vertex<Id> : loses ? m.v : m.spawner};
    }
    void after(const message& m, Id, auto& at) { s.uncolored.add(at.worker(), m.v); }
    void answer(const message& m, const activity::outcome<Id>& recolored, auto& at) {
      if (recolored.value == m.spawner && m.v != m.spawner) at({m.spawner, m.spawner, m.color});
    }
  };

  coloring_state(world& world, const graph::dist_csr<Id>& g, const coloring_options& opt)
      : w(world),
        edges(traverse::edges_both_ways(g)),
        seed(opt.seed),
        color(w, g.partition(), none),
        known(w, color),
        resolutions(w, resolve_conflict{color.view(), *this}, opt.activity),
        uncolored(w),
        palettes(w.workers()) {
    traverse::for_each_own(w, g.out(), [&](worker_t k, Id v) { uncolored.add(k, v); });
  }

  std::uint64_t draw(Id v) const { return mix64(seed + 0x9e3779b97f4a7c15 * (round + 1) + v); }
  // Whether m.v has the larger random number for this edge and round.
  [[nodiscard]] bool target_loses(const typename resolve_conflict::message& m) const {
    return m.v == m.spawner || draw(m.v) > draw(m.spawner);
  }

  // Gives each vertex a small color that no neighbor appears to have.
  void color_all(std::span<const Id> vertices, std::uint64_t num_of_all) {
    const auto fit = [&](worker_t k, Id v) {
      auto& p = palettes[k];
      p.begin_vertex(edges.degree(v));
      edges.each_neighbor(v, [&](Id u) {
        if (u != v) p.see(known[u]);
      });
      known.store(v, p.unused(num_choices(round), draw(v)));
    };
    known.in_parts(vertices, num_of_all,
                   [&](auto part) { traverse::visit_all_edges(w, edges, part, fit); });
  }

  // Each conflict is found at the endpoint with the larger id. Returns the number of uncolored
  // vertices of all ranks. No rank stores into `known` meanwhile: the last share() is over, and the
  // epoch ends before the next colors are taken.
  std::uint64_t find_conflicts(std::span<const Id> vertices) {
    const auto ask = [&](Id v, std::span<const Id> row, auto& send) {
      const auto c = color.load(v);
      if (c == none) return;  // already withdrawn
      for (const Id u : row) {
        if (u < v && known[u] == c) send({u, v, c});
      }
    };
    return traverse::push_along(w, resolutions, edges, vertices, ask,
                                traverse::closing_with_size(uncolored));
  }

  world& w;
  const traverse::edges<Id> edges;
  const std::uint64_t seed;
  pgas::vertex_map<std::uint32_t> color;
  mirror<Id, std::uint32_t> known;
  activity::executor<resolve_conflict> resolutions;
  traverse::worklist<Id> uncolored;
  task::per_worker<palette> palettes;
  std::uint64_t round = 0;
};

}  // namespace

template <class Id>
coloring_result coloring(world& w, const graph::dist_csr<Id>& g, const coloring_options& opt) {
  g.expect_in();
  coloring_state<Id> c(w, g, opt);
  std::uint64_t given_up = 0, used = 0;
  for (auto left = g.num_vertices(); left != 0; ++c.round) {
    const auto vertices = c.uncolored.take();
    c.color_all(vertices, left);
    left = c.find_conflicts(vertices);
    given_up += left;
  }
  for (const auto x : c.color.local()) used = std::max<std::uint64_t>(used, x + 1);
  return {std::move(c.color), w.max(used), c.round, given_up, c.resolutions.ran()};
}

template coloring_result coloring(world&, const graph::dist_csr<std::uint32_t>&,
                                  const coloring_options&);
template coloring_result coloring(world&, const graph::dist_csr<std::uint64_t>&,
                                  const coloring_options&);

}  // namespace cairn::algo
