// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <graph/io/native_header.hpp>
#include <string>
#include <vector>

#include <cairn/base/random.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/io/native.hpp>

#include <support/on_ranks.hpp>

#include "files.hpp"

namespace cairn::graph::io::attachment_test {
namespace {

const std::vector<std::uint64_t> example_offsets{0, 2, 2, 5};
const std::vector<std::uint32_t> example_targets{1, 2, 0, 1, 2};

void write(const std::string& path, std::span<const std::byte> bytes) {
  world w(2);
  native_graph g{true, example_targets.size(), example_offsets, std::span(example_targets), {}, {}};
  g.attached = attachment{"someone's", bytes};
  write_native(w.pool(), path, g);
}

any_graph graph_from(const std::string& path) {
  world w(2);
  return read_native(w, path);
}

TEST(Attachment, ReadsBackOnOneRank) {
  const test::folder dir;
  std::vector<std::byte> bytes(10'001);
  random64 draw(1);
  for (auto& x : bytes) x = static_cast<std::byte>(draw());
  for (const std::string name : {"g.cairn", "g.cairn.gz"}) {
    write(dir / name, bytes);
    const auto graph = graph_from(dir / name);
    const auto& g = std::get<0>(graph);
    ASSERT_TRUE(g.attached());
    EXPECT_EQ(g.attached()->name, "someone's");
    EXPECT_TRUE(std::ranges::equal(g.attached()->bytes, bytes));
    EXPECT_TRUE(std::ranges::equal(g.out().targets(), example_targets));
    EXPECT_FALSE(native_view(g).attached) << "a program that writes it attaches it";
    support::on_ranks(
        2, 1, [&](world& w) { EXPECT_FALSE(std::get<0>(read_native(w, dir / name)).attached()); });
  }
}

TEST(Attachment, DamageIsFound) {
  const test::folder dir;
  const std::vector<std::byte> bytes(5000, std::byte{7});
  write(dir / "g.cairn", bytes);
  const auto whole = test::bytes_of(dir / "g.cairn");
  const auto said = [&](std::size_t at) {
    auto changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    const auto path = dir.plain("h.cairn", changed);
    return test::sentence_of(path, [&] { static_cast<void>(graph_from(path)); });
  };
  EXPECT_EQ(said(whole.size() - 1),
            "h.cairn: at byte 12288: the checksum of the section of the attachment is wrong: the "
            "file is damaged");
  EXPECT_EQ(said(offsetof(native_header, attachment_name)),
            "h.cairn: at byte 192: the checksum of the attachment's header fields is wrong");
  for (std::size_t size = 4096; size < whole.size(); size += 1000) {
    const auto path = dir.plain("h.cairn", whole.substr(0, size));
    const auto sentence = test::sentence_of(path, [&] { static_cast<void>(graph_from(path)); });
    EXPECT_NE(sentence.find("its header describes"), std::string::npos);
  }
}

}  // namespace
}  // namespace cairn::graph::io::attachment_test
