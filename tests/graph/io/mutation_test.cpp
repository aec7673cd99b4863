// SPDX-License-Identifier: Apache-2.0
//
// Valid files are changed at random. Each reader must either succeed or throw input_error: no
// crash, no other exception, and under the sanitizers no undefined behaviour.
#include <functional>

#include <cairn/base/random.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/io/native.hpp>
#include <cairn/graph/io/table.hpp>
#include <cairn/graph/labels.hpp>

#include "files.hpp"

namespace cairn::graph::io::mutation_test {
namespace {

using test::folder;

/// One of the ways in which files go bad.
std::string mutated(std::string bytes, random64& draw) {
  using namespace std::string_view_literals;
  constexpr auto inserted_bytes = "\0\n\r\t ,;-+.eE%#acp0123456789\xff\x80"sv;
  for (auto changes = 1 + draw.below(3); changes > 0 && !bytes.empty(); --changes) {
    const auto at = draw.below(bytes.size());
    const auto length = 1 + draw.below(std::min<std::uint64_t>(20, bytes.size() - at));
    switch (draw.below(6)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << draw.below(8)));
        break;
      case 1:
        bytes[at] = inserted_bytes[draw.below(inserted_bytes.size())];
        break;
      case 2:
        bytes.erase(at, length);
        break;
      case 3:
        bytes.insert(at, bytes.substr(draw.below(bytes.size()), length));
        break;
      case 4:
        bytes.resize(at);
        break;
      default:
        bytes.insert(at, "18446744073709551615", draw.below(21));
        break;
    }
  }
  return bytes;
}

struct outcomes {
  int accepted = 0;
  int refused = 0;
};

outcomes try_mutations(const std::string& name, const std::string& bytes, int rounds,
                       const std::function<void(const std::string&)>& read) {
  const folder dir;
  random64 draw(std::hash<std::string>{}(name));
  outcomes found;
  for (int i = 0; i < rounds; ++i) {
    const auto changed = mutated(bytes, draw);
    const auto path = dir.plain(name, changed);
    try {
      read(path);
      ++found.accepted;
    } catch (const input_error& error) {
      ++found.refused;
      EXPECT_EQ(std::string(error.what()).find(path), 0u) << error.what();
    }
  }
  return found;
}

void read_and_number(world& w, const std::string& path) {
  auto edges = read_edges(w, path, {.block_bytes = 50});
  const auto declared = edges.declared_vertices;
  const auto names = relabel(w, edges);
  for (const auto& [u, v, weight] : test::lines_of(edges)) {
    ASSERT_LT(u, names.size());
    ASSERT_LT(v, names.size());
    ASSERT_TRUE(weight == weight);
  }
  EXPECT_EQ(names.size(), declared.value_or(names.size()));
}

TEST(Mutation, TextFilesAreReadOrRefused) {
  const std::vector<std::pair<std::string, std::string>> files{
      {"g.el", "# c\n0 1\n1 2\n2 30\n4 5\n"},
      {"g.wel", "0 1 5\n1 2 0.5\n2 0 -1e3\n"},
      {"g.csv", "source,target\n1,2\n2,3\n30,1\n"},
      {"g.mtx",
       "%%MatrixMarket matrix coordinate real symmetric\n% c\n4 4 3\n2 1 0.5\n3 1 2\n4 4 1\n"},
      {"h.mtx", "%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 2\n2 1 5\n3 1 -6\n"},
      {"g.gr", "c x\np sp 3 3\na 1 2 3\na 2 3 4\na 3 1 5\n"},
      {"g.graph", "% c\n4 4 1\n2 5 3 6\n1 5 3 7\n1 6 2 7 4 1\n3 1\n"},
      {"h.graph", "3 2 100\n7 2\n7 1 3\n7 2\n"},
  };
  world w(1);
  const auto read = [&](const std::string& path) { read_and_number(w, path); };
  for (const auto& [name, text] : files) {
    const auto found = try_mutations(name, text, 1000, read);
    EXPECT_GT(found.accepted, 0) << name;
    EXPECT_GT(found.refused, 100) << name;
  }
}

TEST(Mutation, CompressedFilesAreReadOrRefused) {
  const folder dir;
  std::string text;
  for (int i = 0; i < 300; ++i)
    text += std::to_string(i * 77 % 100) + ' ' + std::to_string(i) + '\n';
  world w(1);
  const auto read = [&](const std::string& path) { read_and_number(w, path); };
  for (const std::string ending : {".gz", ".zst", ".xz"}) {
    const auto bytes = test::bytes_of(dir.packed("whole.el" + ending, text));
    const auto found = try_mutations("g.el" + ending, bytes, 500, read);
    EXPECT_GT(found.refused, 300) << ending;
  }
}

TEST(Mutation, TablesAreReadOrRefused) {
  const folder dir;
  world w(1);
  const table rows{"depth", {1, 5, 9}, std::vector<std::int64_t>{4, -1, -7}};
  for (const std::string ending : {".csv", ".tsv", ".npy"}) {
    write_table(dir / ("t" + ending), rows);
    const auto found = try_mutations(
        "t" + ending, test::bytes_of(dir / ("t" + ending)), 1000, [&](const std::string& path) {
          const auto back = read_table(w.pool(), path, 1000);
          EXPECT_EQ(std::visit([](const auto& v) { return v.size(); }, back.values),
                    back.ids.size());
        });
    EXPECT_GT(found.accepted, 0) << ending;
    EXPECT_GT(found.refused, 100) << ending;
  }
}

TEST(Mutation, NativeFilesAreReadOrRefused) {
  const folder dir;
  world w(1);
  const std::vector<std::uint64_t> offsets{0, 2, 2, 5};
  const std::vector<std::uint32_t> targets{1, 2, 0, 1, 2};
  write_native(w.pool(), dir / "g.cairn", {true, 5, offsets, std::span(targets), {}, {}});
  const auto found =
      try_mutations("g.cairn", test::bytes_of(dir / "g.cairn"), 500,
                    [&](const std::string& path) { static_cast<void>(read_native(w, path)); });
  EXPECT_GT(found.refused, 200);
}

}  // namespace
}  // namespace cairn::graph::io::mutation_test
