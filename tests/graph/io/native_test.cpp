// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <functional>
#include <graph/io/native_header.hpp>
#include <mutex>

#include <cairn/base/random.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/io/checksum.hpp>
#include <cairn/graph/io/native.hpp>

#include <support/on_ranks.hpp>

#include "files.hpp"

namespace cairn::graph::io::native_test {
namespace {

using test::folder;

/// A graph's arrays, as a person would write them down.
struct plain_arrays {
  bool directed = true;
  std::vector<std::uint64_t> offsets{0, 2, 2, 5};
  std::vector<std::uint32_t> targets{1, 2, 0, 1, 2};
  std::vector<std::int32_t> whole = {};
  std::vector<double> real = {};
  std::vector<std::uint64_t> ids = {};

  [[nodiscard]] std::uint64_t num_edges() const {
    if (directed) return targets.size();
    std::uint64_t loops = 0;
    for (std::size_t v = 0; v + 1 < offsets.size(); ++v) {
      const auto row = std::span(targets).subspan(offsets[v], offsets[v + 1] - offsets[v]);
      loops += static_cast<std::uint64_t>(std::count(row.begin(), row.end(), v));
    }
    return (targets.size() + loops) / 2;
  }
  [[nodiscard]] native_graph view() const {
    native_graph g{directed, num_edges(), offsets, std::span(targets), {}, ids};
    if (!whole.empty()) g.weights = std::span(whole);
    if (!real.empty()) g.weights = std::span(real);
    return g;
  }
};

plain_arrays random_arrays(std::uint64_t n, std::uint64_t max_per_row) {
  random64 draw(n);
  plain_arrays a;
  a.offsets.assign(1, 0);
  a.targets.clear();
  for (std::uint64_t v = 0; v < n; ++v) {
    std::uint32_t target = 0;
    for (auto k = draw.below(max_per_row + 1); k > 0; --k) {
      target = static_cast<std::uint32_t>(std::min(n - 1, target + draw.below(n / 3)));
      a.targets.push_back(target);
      a.real.push_back(draw.uniform());
    }
    a.offsets.push_back(a.targets.size());
    a.ids.push_back(7 + 3 * v);
  }
  return a;
}

void write(const std::string& path, const native_graph& g) {
  world w(2);
  write_native(w.pool(), path, g);
}

any_graph graph_from(const std::string& path) {
  world w(2);
  return read_native(w, path);
}

void expect_equal(const native_graph& a, const native_graph& b) {
  const auto same = [](auto x, auto y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end());
  };
  EXPECT_EQ(a.directed, b.directed);
  EXPECT_EQ(a.num_edges, b.num_edges);
  EXPECT_TRUE(same(a.offsets, b.offsets));
  EXPECT_TRUE(same(a.labels, b.labels));
  ASSERT_EQ(a.targets.index(), b.targets.index());
  ASSERT_EQ(a.weights.index(), b.weights.index());
  std::visit([&](auto x) { EXPECT_TRUE(same(x, std::get<decltype(x)>(b.targets))); }, a.targets);
  if (a.weights.index() == 1) {
    EXPECT_TRUE(same(std::get<1>(a.weights), std::get<1>(b.weights)));
  }
  if (a.weights.index() == 2) {
    EXPECT_TRUE(same(std::get<2>(a.weights), std::get<2>(b.weights)));
  }
}

TEST(Native, GraphsReadBackPlainAndCompressed) {
  const folder dir;
  plain_arrays none;
  plain_arrays whole{.whole = {5, -4, 3, 2, 1}};
  plain_arrays undirected{.directed = false,
                          .offsets = {0, 2, 3, 5},
                          .targets = {1, 2, 0, 0, 2},
                          .real = {1, 2, 1, 2, 0.5},
                          .ids = {10, 20, 30}};
  plain_arrays no_edges{.offsets = {0, 0}, .targets = {}};
  for (const std::string ending : {"", ".gz", ".zst", ".xz"}) {
    for (const auto& a : {none, whole, undirected, no_edges, random_arrays(5000, 40)}) {
      const auto path = dir / ("g.cairn" + ending);
      write(path, a.view());
      const auto graph = graph_from(path);
      expect_equal(native_view(std::get<0>(graph)), a.view());
    }
  }
}

TEST(Native, EachRankHasItsRows) {
  const folder dir;
  const auto a = random_arrays(1000, 20);
  write(dir / "g.cairn", a.view());
  for (const rank_t ranks : {1, 2, 3, 8}) {
    support::on_ranks(ranks, 2, [&](world& w) {
      const auto graph = read_native(w, dir / "g.cairn");
      const auto& g = std::get<dist_csr<std::uint32_t>>(graph);
      EXPECT_EQ(g.num_edges(), a.targets.size());
      EXPECT_EQ(g.out().first(), g.partition().first(w.rank()));
      EXPECT_EQ(g.out().num_rows(), g.partition().size(w.rank()));
      for (auto v = g.out().first(); v < g.out().last(); ++v) {
        const auto row = g.out().neighbors(v);
        ASSERT_EQ(row.size(), a.offsets[v + 1] - a.offsets[v]);
        EXPECT_TRUE(std::equal(row.begin(), row.end(), a.targets.data() + a.offsets[v]));
        const auto edges = g.out().edges_of<double>(v);
        for (std::size_t i = 0; i < row.size(); ++i) {
          EXPECT_EQ(edges[i].target, row[i]) << v;
          EXPECT_EQ(edges[i].weight, a.real.at(a.offsets[v] + i)) << v;
        }
      }
    });
  }
}

TEST(Native, WideGraphsReadBack) {
  const folder dir;
  // 2^32 vertices would take 32 GB: the width is a matter of the header, which refuses others.
  const std::vector<std::uint64_t> offsets{0, 1};
  const std::vector<std::uint64_t> targets{0};
  write(dir / "g.cairn", {true, 1, offsets, std::span(targets), {}, {}});
  EXPECT_EQ(
      test::sentence_of(dir / "g.cairn", [&] { static_cast<void>(graph_from(dir / "g.cairn")); }),
      "g.cairn: at byte 12: the header's fields are inconsistent");
}

class DamagedNative : public testing::Test {
 protected:
  /// The sentence for a file with these arrays, whose header and bytes were then changed.
  std::string sentence(const plain_arrays& a,
                       const std::function<void(native_header&)>& change_header,
                       const std::function<void(std::string&)>& change_bytes = {}) {
    const auto path = here_ / "g.cairn";
    write(path, a.view());
    auto bytes = test::bytes_of(path);
    native_header header;
    std::memcpy(&header, bytes.data(), sizeof header);
    if (change_header) {
      change_header(header);
      header.checksum = header.own_checksum();
      std::memcpy(bytes.data(), &header, sizeof header);
    }
    if (change_bytes) change_bytes(bytes);
    static_cast<void>(here_.plain("g.cairn", bytes));
    return test::sentence_of(path, [&] { static_cast<void>(graph_from(path)); });
  }
  folder here_;
};

TEST_F(DamagedNative, WrongMagicVersionOrHeader) {
  const plain_arrays a;
  EXPECT_EQ(sentence(a, [](auto& h) { h.magic[1] = 'C'; }),
            "g.cairn: at byte 0: the file does not start with the .cairn signature");
  EXPECT_EQ(sentence(a, [](auto& h) { h.version = 7; }),
            "g.cairn: at byte 8: expected a version from 1 to 6 of the format, found 7");
  EXPECT_EQ(sentence(a, {}, [](auto& bytes) { bytes[30] = 1; }),
            "g.cairn: at byte 144: the checksum of the header is wrong");
  EXPECT_EQ(sentence(a, [](auto& h) { h.num_vertices = 1'000'000'000'000; }),
            "g.cairn: at byte 12: the header's fields are inconsistent");
  EXPECT_EQ(sentence(a, [](auto& h) { h.num_edges = h.num_entries = 1'000'000'000'000; }),
            "g.cairn: at byte 72: the offset or size of section targets does not match the "
            "header's counts");
  EXPECT_EQ(sentence(a,
                     [](auto& h) {
                       h.num_edges = h.num_entries = 1'000'000'000'000;
                       h.place_sections(false);
                     }),
            "g.cairn: at byte 8212: the file has 8212 bytes, but its header describes "
            "4000000008192");
  EXPECT_EQ(sentence(a, [](auto& h) { h.num_edges = 4; }),
            "g.cairn: at byte 40: a directed graph has one entry per edge, but the header counts 4 "
            "edges and 5 entries");
}

TEST_F(DamagedNative, EveryTruncation) {
  const plain_arrays a{.ids = {10, 20, 30}};
  for (const std::size_t size : {1u, 100u, 143u, 144u, 4096u, 4100u, 8192u, 12'288u, 12'311u}) {
    EXPECT_NE(sentence(a, {}, [&](auto& bytes) { bytes.resize(size); }).find("at byte"),
              std::string::npos);
  }
  EXPECT_EQ(sentence(a, {}, [&](auto& bytes) { bytes.resize(100); }),
            "g.cairn: at byte 100: the file ends within its header");
  EXPECT_EQ(sentence(a, {}, [&](auto& bytes) { bytes += 'x'; }),
            "g.cairn: at byte 12312: the file has 12313 bytes, but its header describes 12312");
}

TEST_F(DamagedNative, AHeaderOfACompressedFileIsBelievedOnlyAsFarAsBytesFollow) {
  const plain_arrays a;
  write(here_ / "g.cairn", a.view());
  const auto whole = test::bytes_of(here_ / "g.cairn");
  const auto said = [&](const std::string& bytes) {
    const auto path = here_.packed("g.cairn.gz", bytes);
    return test::sentence_of(path, [&] { static_cast<void>(graph_from(path)); });
  };
  EXPECT_EQ(said(whole.substr(0, 100)), "g.cairn.gz: at byte 100: the file ends within its header");
  EXPECT_EQ(said(whole.substr(0, 5000)),
            "g.cairn.gz: at byte 5000: the file has 5000 bytes, but its header describes 8212");
  EXPECT_EQ(said(whole + "x"),
            "g.cairn.gz: at byte 8212: the file has more than 8212 bytes, but its header describes "
            "8212");
  EXPECT_EQ(said(std::string(10'000, '\0')),
            "g.cairn.gz: at byte 0: the file does not start with the .cairn signature");
}

TEST_F(DamagedNative, ACompressedFileThatCannotFitIsRefusedBeforeItIsDecompressed) {
  native_header header;
  header.num_vertices = std::uint64_t{1} << 50;
  header.id_bytes = 8;
  header.place_sections(false);
  header.checksum = header.own_checksum();
  const std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  const auto path = here_.packed("g.cairn.xz", bytes);
  try {
    static_cast<void>(graph_from(path));
    ADD_FAILURE() << "8 PB found room";
  } catch (const usage_error& refusal) {
    EXPECT_EQ(std::string(refusal.what()).find(path + ": the graph needs 9.01 PB of memory, but "),
              0u)
        << refusal.what();
  }
}

TEST_F(DamagedNative, EveryChangedByteOfASection) {
  const auto a = random_arrays(300, 10);
  const auto path = here_ / "g.cairn";
  write(path, a.view());
  const auto whole = test::bytes_of(path);
  random64 draw(3);
  for (int i = 0; i < 300; ++i) {
    auto bytes = whole;
    const auto at = native_page + draw.below(whole.size() - native_page);
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << draw.below(8)));
    static_cast<void>(here_.plain("g.cairn", bytes));
    try {
      // Only padding between sections does not matter.
      const auto graph = graph_from(path);
      expect_equal(native_view(std::get<0>(graph)), a.view());
    } catch (const input_error& error) {
      EXPECT_NE(std::string(error.what()).find("the file is damaged"), std::string::npos);
    }
  }
}

TEST_F(DamagedNative, ArraysThatAreNoGraphThoughTheirChecksumsAreRight) {
  plain_arrays a;
  a.offsets = {0, 3, 2, 5};
  EXPECT_EQ(sentence(a, {}), "g.cairn: at byte 4112: an offset is smaller than the one before");
  a.offsets = {0, 9, 2, 5};
  EXPECT_EQ(sentence(a, {}), "g.cairn: at byte 4104: an offset is beyond the last entry");
  a = {};
  a.targets[4] = 3;
  EXPECT_EQ(sentence(a, {}), "g.cairn: at byte 8208: a target is not a vertex");
  a = {};
  a.targets = {2, 1, 0, 1, 2};
  EXPECT_EQ(sentence(a, {}), "g.cairn: at byte 8196: the targets of a row do not ascend");
  a = {};
  a.real = {1, 2, std::numeric_limits<double>::infinity(), 4, 5};
  EXPECT_EQ(sentence(a, {}), "g.cairn: at byte 12304: a weight is not finite");
  a = {};
  a.ids = {10, 20, std::numeric_limits<std::uint64_t>::max()};
  EXPECT_EQ(sentence(a, {}),
            "g.cairn: at byte 12304: a label is 2^64 - 1, which is not a valid id");
  a.ids = {10, 10, 20};
  EXPECT_EQ(sentence(a, {}), "g.cairn: at byte 12296: the labels do not ascend");
}

TEST(Checksum, FindsChangedMovedAndMissingBytes) {
  std::vector<std::byte> bytes(3 * checksum_chunk + 13);
  random64 draw(1);
  for (auto& b : bytes) b = static_cast<std::byte>(draw());
  const auto good = checksum(bytes);
  for (int i = 0; i < 100; ++i) {
    auto changed = bytes;
    changed[draw.below(bytes.size())] ^= static_cast<std::byte>(1 << draw.below(8));
    EXPECT_NE(checksum(changed), good);
  }
  auto swapped = bytes;
  std::swap_ranges(swapped.begin(), swapped.begin() + checksum_chunk,
                   swapped.begin() + checksum_chunk);
  EXPECT_NE(checksum(swapped), good) << "whole chunks changed places";
  bytes.push_back(std::byte{0});
  EXPECT_NE(checksum(bytes), good) << "a zero was appended";
}

}  // namespace
}  // namespace cairn::graph::io::native_test
