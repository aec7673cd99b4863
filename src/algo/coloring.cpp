// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <cairn/activity/executor.hpp>
#include <cairn/algo/coloring.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/base/random.hpp>
#include <cairn/traverse/vertex_list.hpp>

namespace cairn::algo {
namespace {

constexpr auto none = no_vertex<std::uint32_t>;  // no colour yet
constexpr std::size_t chunk_vertices = 256;

// The edges of v both ways.
template <class Id, class F>
void each_neighbour(const graph::dist_csr<Id>& g, Id v, F&& f) {
  for (const Id u : g.out().neighbors(v)) f(u);
  if (!g.directed()) return;
  for (const Id u : g.in().neighbors(v)) f(u);
}
template <class Id>
std::uint64_t degree_of(const graph::dist_csr<Id>& g, Id v) {
  return g.out().degree(v) + (g.directed() ? g.in().degree(v) : 0);
}
template <class Id>
std::uint64_t largest_degree(world& w, const graph::dist_csr<Id>& g) {
  std::uint64_t mine = 0;
  for (auto v = g.out().first(); v < g.out().last(); ++v) {
    mine = std::max(mine, degree_of(g, static_cast<Id>(v)));
  }
  return w.max(mine);
}

template <class Id>
struct colouring {
  struct clash {  // fire and return, may fail: [AAM15] listing 6
    struct message {
      Id v, spawner;  // both took this colour in this round; spawner == v gives it up
      std::uint32_t colour;
    };
    pgas::vertex_view<std::uint32_t> colours;
    colouring& s;

    auto cell(const message& m) const { return colours.at(m.v); }
    bool wanted(std::uint32_t x, const message& m) const { return x == m.colour; }
    // Returns who has to give its colour up, if they still agree.
    activity::outcome<Id> attempt(auto x, const message& m) const {
      const bool loses = s.gives_up(m);
      const bool agree = (loses ? x.claim(m.colour, none) : x.load()) == m.colour;
      return {agree && loses, !agree ? no_vertex<Id> : loses ? m.v : m.spawner};
    }
    void after(const message& m, Id, auto& at) { s.next().add(at.worker(), m.v); }
    void answer(const message& m, const activity::outcome<Id>& loser, auto& at) {
      if (loser.value == m.spawner && m.v != m.spawner) at({m.spawner, m.spawner, m.colour});
    }
  };

  colouring(world& world, const graph::dist_csr<Id>& graph, const coloring_options& opt)
      : w(world),
        g(graph),
        seed(opt.seed),
        colour(w, g.partition(), none),
        clashes(w, clash{colour.view(), *this}, opt.activity),
        lists{{{w, colour.local().size()}, {w, colour.local().size()}}},
        palettes(w.workers()) {
    const auto colours = largest_degree(w, g) + 2;
    for (auto& p : palettes) p.value.last_seen.resize(colours);
    if (w.size() > 1) {
      known = hw::page_buffer<std::uint32_t>(g.num_vertices());
      std::fill(known.begin(), known.end(), none);
    }
  }

  // The end with the greater lot of this edge and round.
  [[nodiscard]] bool gives_up(const typename clash::message& m) const {
    if (m.v == m.spawner) return true;
    const auto lot = [&](Id a) { return mix64(seed + 0x9e3779b97f4a7c15 * (round + 1) + a); };
    return lot(m.v) > lot(m.spawner);
  }

  [[nodiscard]] std::uint32_t& seen_colour(Id v) {
    return known.empty() ? colour.local()[v - colour.first()] : known[v];
  }
  [[nodiscard]] std::uint32_t look(Id v) { return tm::load_cell(seen_colour(v)); }

  // The least colour that no neighbour seems to have.
  [[nodiscard]] std::uint32_t first_fit(worker_t k, Id v) {
    auto& [last_seen, now] = palettes[k];
    ++now;
    each_neighbour(g, v, [&](Id u) {
      const auto c = look(u);
      if (c != none && u != v) last_seen[c] = now;
    });
    std::uint32_t c = 0;
    while (last_seen[c] == now) ++c;
    return c;
  }

  traverse::vertex_list<Id>& todo() { return lists[round % 2]; }
  traverse::vertex_list<Id>& next() { return lists[(round + 1) % 2]; }

  void colour_all(std::span<const Id> vertices) {
    w.parallel_for(
        vertices.size(),
        [&](worker_t k, std::size_t begin, std::size_t end) {
          for (const Id v : vertices.subspan(begin, end - begin)) {
            const auto c = first_fit(k, v);
            colour.store(v, c);
            if (!known.empty()) std::atomic_ref(known[v]).store(c, std::memory_order_relaxed);
          }
        },
        chunk_vertices);
    if (w.size() > 1) share(vertices);
  }

  void share(std::span<const Id> vertices) {
    struct coloured {
      Id v;
      std::uint32_t colour;
    };
    std::vector<coloured> mine;
    mine.reserve(vertices.size());
    for (const Id v : vertices) mine.push_back({v, colour.load(v)});
    for (const auto& [v, c] : w.all_gather_values<coloured>(mine)) known[v] = c;
  }

  // Each conflict is seen from both ends, because both were coloured in this round.
  void find_clashes(std::span<const Id> vertices) {
    am::epoch epoch(w);
    w.parallel_for(
        vertices.size(),
        [&](worker_t k, std::size_t begin, std::size_t end) {
          clashes.spawn(k, [&](auto& send) {
            for (const Id v : vertices.subspan(begin, end - begin)) {
              const auto c = colour.load(v);
              if (c == none) continue;  // it has lost already
              each_neighbour(g, v, [&](Id u) {
                if (u < v && look(u) == c) send({u, v, c});
              });
            }
          });
        },
        chunk_vertices);
    epoch.close();
  }

  world& w;
  const graph::dist_csr<Id>& g;
  const std::uint64_t seed;
  pgas::vertex_map<std::uint32_t> colour;
  hw::page_buffer<std::uint32_t> known;  // colours of all ranks; empty if there is one
  activity::executor<clash> clashes;
  std::array<traverse::vertex_list<Id>, 2>
      lists;  // to be coloured in this round, and again in the next
  struct palette {
    std::vector<std::uint64_t> last_seen;  // by colour: when a neighbour had it
    std::uint64_t now = 0;                 // counts vertices
  };
  task::per_worker<palette> palettes;
  std::uint64_t round = 0;
};

// Every rank's sentence, if any: that of the lowest.
std::optional<std::string> first_of(world& w, const std::string& mine) {
  for (const auto& said : w.all_gather_bytes(std::as_bytes(std::span(mine)))) {
    if (said.empty()) continue;
    return std::string(reinterpret_cast<const char*>(said.data()), said.size());
  }
  return std::nullopt;
}

}  // namespace

template <class Id>
coloring_result coloring(world& w, const graph::dist_csr<Id>& g, const coloring_options& opt) {
  CAIRN_EXPECTS(g.has_in(), "an edge counts both ways: load with .inverse = true");
  colouring<Id> c(w, g, opt);
  for (auto v = g.out().first(); v < g.out().last(); ++v) c.todo().add(0, static_cast<Id>(v));
  std::uint64_t conflicts = 0;
  for (std::uint64_t left = w.sum(std::uint64_t{c.todo().slide().size()}); left != 0;) {
    c.colour_all(c.todo().window());
    c.find_clashes(c.todo().window());
    c.todo().clear();
    ++c.round;
    left = w.sum(std::uint64_t{c.todo().slide().size()});
    conflicts += left;
  }
  std::uint64_t used = 0;
  for (const auto x : c.colour.local()) used = std::max<std::uint64_t>(used, x + 1);
  return {std::move(c.colour), w.max(used), c.round, conflicts, c.clashes.ran()};
}

template <class Id>
std::optional<std::string> verify_coloring(world& w, const graph::dist_csr<Id>& g,
                                           const pgas::vertex_map<std::uint32_t>& colour) {
  const auto all = w.all_gather_values<std::uint32_t>(colour.local());
  const auto most = largest_degree(w, g);
  const auto id = [&](std::uint64_t v) { return g.labels().text_of(v); };
  std::string wrong;
  for (auto v = g.out().first(); v < g.out().last() && wrong.empty(); ++v) {
    if (all[v] > most) {
      wrong = "vertex " + id(v) + " has colour " + std::to_string(all[v]) +
              ", expected at most the largest degree, " + std::to_string(most);
    }
    for (const Id u : g.out().neighbors(v)) {
      if (u == v || all[u] != all[v] || !wrong.empty()) continue;
      wrong = "vertices " + id(v) + " and " + id(u) + " are joined and both have colour " +
              std::to_string(all[v]);
    }
  }
  return first_of(w, wrong);
}

template coloring_result coloring(world&, const graph::dist_csr<std::uint32_t>&,
                                  const coloring_options&);
template coloring_result coloring(world&, const graph::dist_csr<std::uint64_t>&,
                                  const coloring_options&);
template std::optional<std::string> verify_coloring(world&, const graph::dist_csr<std::uint32_t>&,
                                                    const pgas::vertex_map<std::uint32_t>&);
template std::optional<std::string> verify_coloring(world&, const graph::dist_csr<std::uint64_t>&,
                                                    const pgas::vertex_map<std::uint32_t>&);

}  // namespace cairn::algo
