// SPDX-License-Identifier: Apache-2.0
//
// What every text format can hold is read back as the same graph; what it cannot is refused.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <graph/rewrite.hpp>
#include <set>

#include <cairn/base/random.hpp>
#include <cairn/graph/builder.hpp>
#include <cairn/graph/io/dimacs.hpp>
#include <cairn/graph/io/edge_list.hpp>
#include <cairn/graph/io/metis.hpp>
#include <cairn/graph/load.hpp>

#include <support/num_schedules.hpp>
#include <support/random_graphs.hpp>

#include "../graph_reference.hpp"
#include "files.hpp"

namespace cairn::graph::io::writers_test {
namespace {

using support::plain_graph;

enum class weigh { not_at_all, by_positive, by_integers, by_reals };
constexpr weigh all_weights[]{weigh::not_at_all, weigh::by_positive, weigh::by_integers,
                              weigh::by_reals};

weight_kind kind_of(weigh by) {
  if (by == weigh::not_at_all) return weight_kind::none;
  return by == weigh::by_reals ? weight_kind::real : weight_kind::integer;
}

/// A graph as its ids say it.
struct facts {
  bool directed = false;
  std::uint64_t n = 0;
  weight_kind weights = weight_kind::none;
  reference::edge_list arcs;  // ascending; an undirected edge in both directions

  friend bool operator==(const facts&, const facts&) = default;
};

std::ostream& operator<<(std::ostream& to, const facts& f) {
  to << (f.directed ? "directed, n " : "undirected, n ") << f.n << ", weights " << int(f.weights);
  for (const auto& a : f.arcs) to << "; " << a.source << ' ' << a.target << ' ' << a.weight;
  return to;
}

/// Ids are 1 to n. Weights follow from the seed.
facts facts_of(const plain_graph& g, weigh by, std::uint64_t seed) {
  auto draw = random64(seed).stream(0x3e1);
  facts f{g.directed, g.n, kind_of(by), {}};
  for (const auto& e : g.edges) {
    double weight = 0;
    if (by == weigh::by_positive) weight = 1 + double(draw.below(9));
    if (by == weigh::by_integers) weight = double(draw.below(2'000'000)) - 1'000'000;
    if (by == weigh::by_reals) weight = (double(draw.below(2000)) - 1000) / 16;
    f.arcs.push_back({e.source + 1, e.target + 1, weight});
    if (!g.directed && e.source != e.target) f.arcs.push_back({e.target + 1, e.source + 1, weight});
  }
  std::sort(f.arcs.begin(), f.arcs.end());
  return f;
}

facts facts_of(const any_graph& any) {
  facts f;
  std::visit(
      [&](const auto& g) {
        f.directed = g.directed();
        f.n = g.num_vertices();
        f.arcs = reference::arcs_of(g.out());
        for (auto& a : f.arcs) {
          a.source = g.labels().id_of(a.source);
          a.target = g.labels().id_of(a.target);
        }
        if (g.out().template weighted_by<std::int32_t>()) f.weights = weight_kind::integer;
        if (g.out().template weighted_by<double>()) f.weights = weight_kind::real;
      },
      any);
  std::sort(f.arcs.begin(), f.arcs.end());
  return f;
}

/// Builds the graph, with vertices in another order if the seed is odd.
template <class Id>
dist_csr<Id> build_graph(world& w, const facts& f, std::uint64_t seed) {
  reference::edge_list edges;
  for (const auto& a : f.arcs) {
    if (!f.directed && a.source > a.target) continue;
    edges.push_back({a.source - 1, a.target - 1, a.weight});
  }
  auto raw = reference::raw_share<Id>(edges, f.weights, f.directed, 1000, 0, 1);
  raw.declared_vertices = f.n;
  const auto order = seed % 2 == 0 ? order_kind::file : order_kind::random;
  const auto names = reorder(w, raw, labels(consecutive_ids{.first = 1, .size = f.n}), order, seed);
  for (auto& block : raw.blocks) {  // reordering has chosen the width for n
    graph::detail::rewrite_block<Id>(block, [](std::uint64_t v) { return v; });
  }
  return build<Id>(w, std::move(raw), names);
}

bool simple(const facts& f) {
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
  return !f.directed && std::all_of(f.arcs.begin(), f.arcs.end(), [&](const auto& a) {
    return a.source != a.target && seen.emplace(a.source, a.target).second;
  });
}

facts without_weights(facts f) {
  f.weights = weight_kind::none;
  for (auto& a : f.arcs) a.weight = 0;
  return f;
}

/// As read back from a list of directed edges.
facts as_arcs(facts f) {
  f.directed = true;
  return f;
}

facts without_isolated(facts f) {
  std::set<std::uint64_t> touched;
  for (const auto& a : f.arcs) touched.insert({a.source, a.target});
  f.n = touched.size();
  return f;
}

/// A format: how it is written, and what is read back; nothing if it cannot hold the graph.
struct format {
  std::string ending;
  std::function<void(task::pool&, const std::string&, const native_graph&)> write;
  std::function<std::optional<facts>(const facts&, weigh)> read_back;
};

std::vector<format> formats() {
  const auto edge_list = [](auto& pool, auto& path, auto& g) { write_edge_list(pool, path, g); };
  const auto matrix = [](auto& pool, auto& path, auto& g) { write_matrix_market(pool, path, g); };
  const auto metis = [](auto& pool, auto& path, auto& g) { write_metis(pool, path, g); };
  const auto dimacs = [](auto& pool, auto& path, auto& g) { write_dimacs(pool, path, g); };
  const auto flow = [](auto& pool, auto& path, auto& g) {
    write_dimacs(pool, path, g, undirected_edges::both_ways, flow_terminals{1, g.num_vertices()});
  };
  using maybe = std::optional<facts>;
  const auto if_edges = [](const facts& f) {
    return f.arcs.empty() ? maybe() : without_isolated(as_arcs(f));
  };
  return {
      {".el", edge_list, [=](auto& f, weigh) { return if_edges(without_weights(f)); }},
      {".wel", edge_list,
       [=](auto& f, weigh by) { return by == weigh::not_at_all ? maybe() : if_edges(f); }},
      {".csv", edge_list, [=](auto& f, weigh) { return if_edges(f); }},
      {".mtx", matrix, [](auto& f, weigh) { return maybe(f); }},
      {".gr", dimacs,
       [](auto& f, weigh by) {
         if (by == weigh::not_at_all) return f.directed ? maybe() : f;
         return by == weigh::by_reals ? maybe() : as_arcs(f);
       }},
      {".max", flow,
       [](auto& f, weigh by) {
         const bool zero_to_all =
             std::all_of(f.arcs.begin(), f.arcs.end(), [](const auto& a) { return a.weight >= 0; });
         const bool whole = by == weigh::by_positive || by == weigh::by_integers;
         return whole && zero_to_all && f.n > 1 ? as_arcs(f) : maybe();
       }},
      {".col", dimacs,
       [](auto& f, weigh by) { return simple(f) && by == weigh::not_at_all ? f : maybe(); }},
      {".graph", metis,
       [](auto& f, weigh by) {
         const bool positive =
             std::all_of(f.arcs.begin(), f.arcs.end(), [](const auto& a) { return a.weight > 0; });
         const bool weights_fit = by == weigh::not_at_all || (by != weigh::by_reals && positive);
         return simple(f) && weights_fit ? f : maybe();
       }},
  };
}

template <class Id>
void expect_round_trips(world& w, const plain_graph& g, std::uint64_t seed) {
  constexpr const char* compressions[]{"", ".gz", ".zst", ".xz"};
  const test::folder dir;
  for (const auto by : all_weights) {
    const auto made = facts_of(g, by, seed);
    const auto rows = build_graph<Id>(w, made, seed);
    const auto view = native_view(rows);
    for (const auto& f : formats()) {
      SCOPED_TRACE(g.name + f.ending + " weights " + std::to_string(int(by)));
      const auto path = dir / ("g" + f.ending + compressions[(seed + f.ending.size()) % 4]);
      std::filesystem::remove(path);  // of other weights
      auto expected = f.read_back(made, by);
      if (!expected) {
        EXPECT_THROW(f.write(w.pool(), path, view), usage_error);
        EXPECT_FALSE(std::ifstream(path).good()) << "a refused graph left a file";
        continue;
      }
      f.write(w.pool(), path, view);
      const auto back = facts_of(load(w, path).graph);
      // Without any edge nothing says whether weights are real.
      if (expected->arcs.empty()) expected->weights = back.weights;
      EXPECT_EQ(back, *expected);
    }
  }
}

TEST(Writers, RoundTripsGiveTheSameGraph) {
  world w(2);
  for (const auto& g : support::corner_graphs()) {
    expect_round_trips<std::uint32_t>(w, g, 1);
    expect_round_trips<std::uint64_t>(w, g, 2);
  }
  const int graphs = support::num_random_graphs(support::sanitized ? 12 : 60);
  for (int seed = 0; seed < graphs; ++seed) {
    const auto g = support::random_graph(static_cast<std::uint64_t>(seed));
    expect_round_trips<std::uint32_t>(w, g, static_cast<std::uint64_t>(seed));
    expect_round_trips<std::uint64_t>(w, g, static_cast<std::uint64_t>(seed) + 1);
  }
}

/// Several pieces, whose limits fall into rows, between rows and beside empty ones.
TEST(Writers, ManyPiecesAreTheSameGraph) {
  world w(2);
  const test::folder dir;
  plain_graph g{"large", 30'000, false, {}};
  random64 draw(5);
  std::set<std::pair<std::uint64_t, std::uint64_t>> edges;
  while (edges.size() < (support::sanitized ? 40'000u : 70'000u)) {
    const auto u = 2000 + draw.below(20'000), v = draw.below(10) == 0 ? 7 : 2000 + draw.below(9000);
    if (u != v) edges.emplace(std::min(u, v), std::max(u, v));
  }
  for (const auto& [u, v] : edges) g.edges.push_back({u, v});
  for (const auto by : {weigh::not_at_all, weigh::by_positive}) {
    const auto made = facts_of(g, by, 1);
    const auto rows = build_graph<std::uint32_t>(w, made, 1);
    for (const auto& f : formats()) {
      const auto expected = f.read_back(made, by);
      if (!expected) continue;
      f.write(w.pool(), dir / ("g" + f.ending), native_view(rows));
      EXPECT_TRUE(facts_of(load(w, dir / ("g" + f.ending)).graph) == *expected) << f.ending;
    }
  }
}

std::string written(const std::string& name, const plain_graph& g, weigh by,
                    undirected_edges edges = undirected_edges::both_ways) {
  world w(1);
  const test::folder dir;
  const auto rows = build_graph<std::uint32_t>(w, facts_of(g, by, 3), 0);
  const auto view = native_view(rows);
  const auto ending = name.substr(name.rfind('.'));
  if (ending == ".graph") {
    write_metis(w.pool(), dir / name, view);
  } else if (ending == ".csv") {
    write_edge_list(w.pool(), dir / name, view, edges);
  } else {
    write_dimacs(w.pool(), dir / name, view, edges,
                 ending == ".max" ? std::optional(flow_terminals{3, 1}) : std::nullopt);
  }
  return test::bytes_of(dir / name);
}

TEST(FlowTerminals, AreThoseOfTheFile) {
  const test::folder dir;
  const auto ends_in = [&](const std::string& lines) {
    const auto path = dir.plain("f.max", "c flow\np max 3 1\n" + lines + "a 1 2 4\n");
    return test::sentence_of(path, [&] {
      const auto found = read_flow_terminals(path, false, false);
      throw input_error(path + ": " + std::to_string(found.source) + " to " +
                        std::to_string(found.sink));
    });
  };
  EXPECT_EQ(ends_in("n 3 s\nc between\n n 1 t\n"), "f.max: 3 to 1");
  EXPECT_EQ(ends_in(""), "f.max: 0 to 0");
  EXPECT_EQ(ends_in("n 3 s\n"),
            "f.max: names the source, but no sink ('n ID t') before the first arc");
  EXPECT_EQ(ends_in("n 3 t\n"),
            "f.max: names the sink, but no source ('n ID s') before the first arc");
  EXPECT_EQ(ends_in("n 3 s\nn 3 t\n"), "f.max:4: the source is also the sink");
  EXPECT_EQ(ends_in("n 3 s\nn 2 s\n"), "f.max:4: a second source");
  EXPECT_EQ(ends_in("n 4 s\n"), "f.max:3: expected an id from 1 to 3, found 4");
  EXPECT_EQ(ends_in("n 0 s\n"), "f.max:3: expected an id from 1 to 3, found 0");
  EXPECT_EQ(ends_in("n 1 u\n"), "f.max:3: expected 'n ID s' or 'n ID t', found 'n 1 u'");
  EXPECT_EQ(ends_in("n 1\n"), "f.max:3: expected 'n ID s' or 'n ID t', found 'n 1'");
  EXPECT_EQ(ends_in("n x s\n"), "f.max:3: expected an id (an integer), found 'x'");
}

TEST(FlowTerminals, OneMayBeMissingIfItIsGivenOrNotNeeded) {
  const test::folder dir;
  const auto path = dir.plain("f.max", "p max 3 1\nn 3 s\na 1 2 4\n");
  EXPECT_EQ(read_flow_terminals(path).source, 3u);
  EXPECT_EQ(read_flow_terminals(path, false, true).sink, 0u);
  EXPECT_THROW(static_cast<void>(read_flow_terminals(path, true, false)), input_error);
}

TEST(FlowTerminals, FollowTheProblemLine) {
  const test::folder dir;
  const auto path = dir.plain("f.max", "n 1 s\np max 2 1\nn 2 t\na 1 2 4\n");
  const auto* const says =
      "f.max:1: expected 'p sp VERTICES ARCS' (or p max, p tw, p edge), found 'n 1 s'";
  EXPECT_EQ(test::sentence_of(path, [&] { static_cast<void>(read_flow_terminals(path)); }), says);
  EXPECT_EQ(test::sentence(path), says);
}

TEST(FlowTerminals, AreReadFromACompressedFileWithManyComments) {
  const test::folder dir;
  std::string text;
  for (int i = 0; i < 10'000; ++i) text += "c a line of a long comment\n";
  const auto path = dir.packed("f.max.gz", text + "p max 9 1\nn 7 s\nn 9 t\na 7 9 1\n");
  const auto found = read_flow_terminals(path);
  EXPECT_EQ(found.source, 7u);
  EXPECT_EQ(found.sink, 9u);
}

TEST(Writers, FilesLookAsTheirFormatsSay) {
  const plain_graph g{"", 5, false, {{0, 2}, {2, 1}}};
  const plain_graph d{"", 3, true, {{0, 2}, {2, 1}}};
  EXPECT_EQ(written("g.gr", g, weigh::not_at_all), "p tw 5 2\n1 3\n2 3\n");
  EXPECT_EQ(written("g.col", g, weigh::not_at_all), "p edge 5 2\ne 1 3\ne 2 3\n");
  EXPECT_EQ(written("g.graph", g, weigh::not_at_all), "5 2\n3\n3\n1 2\n\n\n");
  EXPECT_EQ(written("g.graph", g, weigh::by_positive), "5 2 001\n3 5\n3 4\n1 5 2 4\n\n\n");
  EXPECT_EQ(written("g.gr", g, weigh::by_positive),
            "p sp 5 4\na 1 3 5\na 2 3 4\na 3 1 5\na 3 2 4\n");
  EXPECT_EQ(written("g.gr", g, weigh::by_positive, undirected_edges::once),
            "p sp 5 2\na 1 3 5\na 2 3 4\n");
  EXPECT_EQ(written("d.max", d, weigh::by_positive), "p max 3 2\nn 3 s\nn 1 t\na 1 3 5\na 3 2 4\n");
  EXPECT_EQ(written("g.csv", g, weigh::not_at_all, undirected_edges::once),
            "source,target\n1,3\n2,3\n");
  EXPECT_EQ(written("d.csv", d, weigh::by_positive), "source,target,weight\n1,3,5\n3,2,4\n");
}

TEST(Writers, SentencesNameWhatAFormatCannotHold) {
  const auto refusal = [](const std::string& name, const plain_graph& g, weigh by) -> std::string {
    try {
      return "written: " + written(name, g, by);
    } catch (const usage_error& error) {
      return std::string(error.what()).substr(std::string(error.what()).rfind('/') + 1);
    }
  };
  const plain_graph loop{"", 3, false, {{0, 2}, {1, 1}}}, twice{"", 3, false, {{0, 2}, {2, 0}}};
  const plain_graph directed{"", 3, true, {{0, 2}}};
  EXPECT_EQ(refusal("g.graph", loop, weigh::not_at_all),
            "g.graph: a METIS file holds no self-loops, but vertex 2 has one "
            "(--drop-self-loops)");
  EXPECT_EQ(refusal("g.col", twice, weigh::not_at_all),
            "g.col: a .col file holds an edge once, but vertex 1 has parallel edges "
            "(--drop-duplicates)");
  EXPECT_EQ(refusal("g.graph", directed, weigh::not_at_all),
            "g.graph: a METIS file holds undirected graphs, but this graph is directed "
            "(--symmetrize)");
  EXPECT_EQ(refusal("g.gr", directed, weigh::not_at_all),
            "g.gr: a .gr file of a directed graph has weights, but this graph has none");
  EXPECT_EQ(refusal("g.gr", directed, weigh::by_reals),
            "g.gr: the weights of a .gr file of a directed graph must be 32-bit integers, but this "
            "graph has others");
}

TEST(Writers, LongWordsTakeTheMemoryThatTheyNeed) {
  const test::folder dir;
  world w(2);
  const std::string word(200'000, 'x');
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "a" + std::to_string(i) + " b\n";
  const auto path = dir.plain("w.el", text + word + " a1\n");
  const load_options texts{.read = {.ids = id_kind::text}};
  const auto g = load(w, path, texts).graph;
  const auto view = std::visit([](const auto& rows) { return native_view(rows); }, g);
  write_edge_list(w.pool(), dir / "v.csv", view);
  EXPECT_EQ(num_isolated(w.pool(), view), 0u);
  const auto back = load(w, dir / "v.csv", texts).graph;
  EXPECT_EQ(facts_of(back), facts_of(g));
}

TEST(Writers, ColoringFilesAreRead) {
  const test::folder dir;
  world w(1);
  const auto path = dir.plain(
      "g.col", "c a comment\np edge 4 3\nn 1 5\nd 2 1\nv 0 1\nx SEED 7\ne 1 2\ne 4 2\ne 2 3\n");
  const auto f = facts_of(load(w, path).graph);
  EXPECT_FALSE(f.directed);
  EXPECT_EQ(f.n, 4u);
  EXPECT_EQ(f.arcs.size(), 6u);
  EXPECT_EQ(test::sentence(dir.plain("a.col", "p col 2 1\na 1 2\n")),
            "a.col:2: expected an edge ('e ID ID') or a comment ('c ...'), found 'a'");
  EXPECT_EQ(test::sentence(dir.plain("b.col", "p edge 2 1\ne 1 2 3\n")),
            "b.col:2: expected the end of the line, found '3'");
}

}  // namespace
}  // namespace cairn::graph::io::writers_test
