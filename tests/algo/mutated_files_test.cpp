// SPDX-License-Identifier: Apache-2.0
//
// Native files are changed at random, and their checksums made right again. They are refused by
// one sentence, or they are graphs: then every algorithm ends on them with a result that its
// verifier accepts, whatever the number of ranks.
#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <graph/io/native_header.hpp>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/algo/bfs.hpp>
#include <cairn/algo/coloring.hpp>
#include <cairn/algo/components.hpp>
#include <cairn/algo/maxflow.hpp>
#include <cairn/algo/mst.hpp>
#include <cairn/algo/pagerank.hpp>
#include <cairn/algo/st_connectivity.hpp>
#include <cairn/algo/verify_bfs.hpp>
#include <cairn/algo/verify_components.hpp>
#include <cairn/algo/verify_mst.hpp>
#include <cairn/algo/verify_pagerank.hpp>
#include <cairn/base/error.hpp>
#include <cairn/base/random.hpp>
#include <cairn/graph/load.hpp>

#include <support/on_ranks.hpp>
#include <support/temporary_folder.hpp>

namespace cairn::algo::mutated_files_test {
namespace {

using graph::io::native_header;
using graph::io::native_page;

/// A file taken apart.
struct file_parts {
  native_header header;
  std::vector<std::uint64_t> offsets{0};
  std::vector<std::uint32_t> targets;
  std::vector<std::int32_t> whole;
  std::vector<double> real;
  std::vector<std::uint64_t> labels;
};

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

/// The file of these parts, its checksums right. The header's counts need not fit the parts.
std::string put_together(file_parts f) {
  const std::array<std::string, 4> sections{
      bytes_of(f.offsets), bytes_of(f.targets),
      f.header.weights == 1 ? bytes_of(f.whole) : bytes_of(f.real), bytes_of(f.labels)};
  std::string bytes(native_page, '\0');
  for (std::size_t i = 0; i < sections.size(); ++i) {
    f.header.sections[i].checksum =
        graph::io::checksum(std::as_bytes(std::span<const char>(sections[i])));
    if (sections[i].empty()) continue;
    bytes.resize((bytes.size() + native_page - 1) / native_page * native_page);
    bytes += sections[i];
  }
  f.header.checksum = f.header.own_checksum();
  std::memcpy(bytes.data(), &f.header, sizeof f.header);
  return bytes;
}

struct entry {
  std::uint64_t source, target;
  int weight;

  friend auto operator<=>(const entry&, const entry&) = default;
};

/// A small graph with self-loops and edges that stand twice, and perhaps weights and labels.
file_parts draw_file(random64& draw) {
  const auto n = 1 + draw.below(12);
  const bool directed = draw.below(3) == 0;
  const auto weights = static_cast<std::uint32_t>(draw.below(3));
  const auto num_edges = draw.below(30);
  std::vector<entry> entries;
  for (std::uint64_t i = 0; i < num_edges; ++i) {
    const entry e{draw.below(n), draw.below(n), static_cast<int>(draw.below(5))};
    entries.push_back(e);
    if (!directed && e.source != e.target) entries.push_back({e.target, e.source, e.weight});
  }
  std::sort(entries.begin(), entries.end());
  file_parts f;
  f.offsets.assign(n + 1, 0);
  for (const auto& e : entries) {
    ++f.offsets[e.source + 1];
    f.targets.push_back(static_cast<std::uint32_t>(e.target));
    if (weights == 1) f.whole.push_back(e.weight);
    if (weights == 2) f.real.push_back(e.weight / 4.0);
  }
  for (std::uint64_t v = 0; v < n; ++v) f.offsets[v + 1] += f.offsets[v];
  if (draw.below(3) == 0) {
    for (std::uint64_t v = 0; v < n; ++v) f.labels.push_back(5 + 3 * v);
  }
  f.header.directed = directed ? 1 : 0;
  f.header.weights = weights;
  f.header.num_vertices = n;
  f.header.num_entries = entries.size();
  f.header.num_edges = num_edges;
  f.header.place_sections(f.labels.size() * 8);
  return f;
}

/// Another number: near, anywhere small, or far out of range.
template <class T>
T other(T value, random64& draw) {
  switch (draw.below(6)) {
    case 0:
      return static_cast<T>(value + 1);
    case 1:
      return static_cast<T>(value - 1);
    case 2:
      return static_cast<T>(draw());
    case 3:
      return static_cast<T>(std::uint64_t{1} << draw.below(64));
    default:
      return static_cast<T>(draw.below(16));
  }
}

template <class T>
void change_one(std::vector<T>& values, random64& draw) {
  if (values.empty()) return;
  auto& value = values[draw.below(values.size())];
  if constexpr (std::is_same_v<T, double>) {
    constexpr std::array<double, 7> unusual{0.0,
                                            -0.0,
                                            -1.5,
                                            1e308,
                                            5e-324,
                                            std::numeric_limits<double>::infinity(),
                                            std::numeric_limits<double>::quiet_NaN()};
    value = unusual[draw.below(unusual.size())];
  } else {
    value = other(value, draw);
  }
}

/// All weights of one value become another, so that a symmetric file stays one.
template <class T>
void change_all_alike(std::vector<T>& values, random64& draw) {
  if (values.empty()) return;
  const auto from = values[draw.below(values.size())];
  std::vector<T> to{from};
  change_one(to, draw);
  std::replace(values.begin(), values.end(), from, to.front());
}

void mutate(file_parts& f, random64& draw) {
  switch (draw.below(12)) {
    case 0:
      return change_one(f.offsets, draw);
    case 1:
    case 2:
      return change_one(f.targets, draw);
    case 3:
      if (!f.targets.empty()) {
        std::swap(f.targets[draw.below(f.targets.size())], f.targets[draw.below(f.targets.size())]);
      }
      return;
    case 4:
      change_one(f.whole, draw);
      return change_one(f.real, draw);
    case 5:
    case 6:
      change_all_alike(f.whole, draw);
      return change_all_alike(f.real, draw);
    case 7:
      return change_one(f.labels, draw);
    case 8: {
      const std::array<std::uint64_t*, 3> counts{&f.header.num_vertices, &f.header.num_entries,
                                                 &f.header.num_edges};
      auto& count = *counts[draw.below(counts.size())];
      count = other(count, draw);
      return;
    }
    case 9: {
      const std::array<std::uint32_t*, 3> kinds{&f.header.directed, &f.header.id_bytes,
                                                &f.header.weights};
      auto& kind = *kinds[draw.below(kinds.size())];
      kind = static_cast<std::uint32_t>(draw.below(9));
      return;
    }
    case 10: {  // a directed graph that says undirected, or the reverse, with edges to match
      f.header.directed ^= 1;
      f.header.num_edges = f.header.directed == 1 ? f.targets.size() : (f.targets.size() + 1) / 2;
      return;
    }
    default:
      if (!f.targets.empty()) {
        std::sort(f.targets.begin(), f.targets.end());
      }
  }
}

struct outcomes {
  int refused = 0;
  int directed = 0;
  int undirected = 0;
  int weighted = 0;
};

template <class Id>
void run_all(world& w, const graph::dist_csr<Id>& g, random64& draw) {
  const auto n = g.num_vertices();
  const auto s = static_cast<Id>(draw.below(n)), t = static_cast<Id>(draw.below(n));
  const auto searched = bfs(w, g, s);
  EXPECT_EQ(verify_bfs<Id>(w, g, s, searched.parent), std::nullopt);
  const auto joined = components(w, g);
  EXPECT_EQ(verify_components<Id>(w, g, joined.label), std::nullopt);
  EXPECT_EQ(verify_coloring<Id>(w, g, coloring(w, g).color), std::nullopt);
  const bool connected = st_connectivity(w, g, {s, t}).connected;
  if (!g.directed()) {
    const auto root_of = [&](Id v) {
      return w.max(joined.label.owns(v) ? std::uint64_t{joined.label.load(v)} : 0);
    };
    EXPECT_EQ(connected, root_of(s) == root_of(t));
    EXPECT_EQ(verify_mst<Id>(w, g, mst(w, g).edges), std::nullopt);
  }
  const pagerank_options ranked{.iterations = 20};
  EXPECT_EQ(verify_pagerank(w, g, pagerank<double>(w, g, ranked), ranked), std::nullopt);
  if (s == t || g.out().template weighted_by<double>()) return;
  try {
    const auto flow = maxflow(w, g, {s, t});
    EXPECT_EQ(verify_maxflow<Id>(w, g, {s, t}, flow.value, flow.flow, flow.source_side),
              std::nullopt);
  } catch (const input_error& negative) {
    EXPECT_NE(std::string(negative.what()).find("expected a capacity"), std::string::npos);
  }
}

void judge(world& w, const std::string& path, std::uint64_t seed, outcomes& found) {
  try {
    auto loaded = graph::load(w, path, {.build = {.inverse = true}});
    std::visit(
        [&](const auto& g) {
          auto draw = random64(seed).stream(2);
          run_all(w, g, draw);
          found.directed += g.directed() ? 1 : 0;
          found.undirected += g.directed() ? 0 : 1;
          found.weighted += g.weighted() ? 1 : 0;
        },
        loaded.graph);
  } catch (const input_error& refusal) {
    ++found.refused;
    EXPECT_EQ(std::string(refusal.what()).find(path), 0u) << refusal.what();
  }
}

TEST(MutatedFiles, AreRefusedOrGraphsOnAnyNumberOfRanks) {
  const support::temporary_folder dir;
  const auto path = dir / "g.cairn";
  outcomes found;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    random64 draw(seed);
    auto parts = draw_file(draw);
    for (auto changes = draw.below(4); changes > 0; --changes) mutate(parts, draw);
    // Else a header that contradicts its sections would be all that is ever seen.
    if (draw.below(4) != 0 && parts.header.weights < 3 && parts.header.num_vertices < 100 &&
        parts.header.num_entries < 100) {
      parts.header.place_sections(parts.labels.size() * 8);
    }
    std::ofstream(path, std::ios::binary) << put_together(parts);
    const auto ranks = static_cast<rank_t>(1 + draw.below(3));
    support::on_simulated_ranks(ranks, static_cast<int>(1 + draw.below(2)), seed, [&](world& w) {
      outcomes ignored;
      judge(w, path, seed, w.rank() == 0 ? found : ignored);
    });
    if (HasFailure()) break;
  }
  EXPECT_GT(found.refused, 600);
  EXPECT_GT(found.directed, 150);
  EXPECT_GT(found.undirected, 150);
  EXPECT_GT(found.weighted, 200);
}

TEST(MutatedFiles, AreJudgedAlikeByRanksThatRunAtOnce) {
  const support::temporary_folder dir;
  const auto path = dir / "g.cairn";
  for (std::uint64_t seed = 10'000; seed < 10'030; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    random64 draw(seed);
    auto parts = draw_file(draw);
    mutate(parts, draw);
    std::ofstream(path, std::ios::binary) << put_together(parts);
    for (const int workers : {1, 2}) {
      support::on_ranks(3 - workers, workers, [&](world& w) {
        outcomes found;
        judge(w, path, seed, found);
        const auto refused = w.sum(static_cast<std::uint64_t>(found.refused));
        EXPECT_TRUE(refused == 0 || refused == static_cast<std::uint64_t>(w.size()));
      });
    }
    if (HasFailure()) break;
  }
}

}  // namespace
}  // namespace cairn::algo::mutated_files_test
