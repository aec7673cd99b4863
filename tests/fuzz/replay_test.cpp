// SPDX-License-Identifier: Apache-2.0
//
// Every target with the files of its corpus, and with changes of them that a fixed seed draws:
// what libFuzzer would start with, without clang. `make fuzz` goes on from there.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include <cairn/base/random.hpp>

#include "fuzz.hpp"

namespace cairn::fuzz::replay_test {
namespace {

using namespace std::string_view_literals;

constexpr auto common_bytes = "\0\n\r\t ,;-+.eE%#=acp0123456789\xff\x80"sv;

/// Changes 1 to 3 places, each in one of the ways in which files go bad.
void change(bytes& all, std::size_t max_bytes, random64& draw) {
  for (auto changes = 1 + draw.below(3); changes > 0 && !all.empty(); --changes) {
    const auto at = static_cast<std::ptrdiff_t>(draw.below(all.size()));
    const auto left = all.size() - static_cast<std::size_t>(at);
    const auto length =
        static_cast<std::ptrdiff_t>(1 + draw.below(std::min<std::size_t>(20, left)));
    const auto from = all.begin() + at;
    switch (draw.below(6)) {
      case 0:
        *from = static_cast<std::uint8_t>(*from ^ (1u << draw.below(8)));
        break;
      case 1:
        *from = static_cast<std::uint8_t>(common_bytes[draw.below(common_bytes.size())]);
        break;
      case 2:
        all.erase(from, from + length);
        break;
      case 3: {
        const bytes part(from, from + length);
        const auto to = static_cast<std::ptrdiff_t>(draw.below(all.size()));
        all.insert(all.begin() + to, part.begin(), part.end());
        break;
      }
      case 4:
        all.resize(static_cast<std::size_t>(at));
        break;
      default: {
        constexpr std::string_view large = "18446744073709551615";
        all.insert(from, large.begin(), large.begin() + 1 + static_cast<int>(draw.below(20)));
        break;
      }
    }
  }
  if (all.size() > max_bytes) all.resize(max_bytes);
}

std::vector<bytes> corpus_of(const target& t) {
  std::vector<std::filesystem::path> files;
  const auto folder = std::filesystem::path(CAIRN_SOURCE_DIR) / "tests/fuzz/corpus" / t.name;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry);
  std::sort(files.begin(), files.end());
  std::vector<bytes> all;
  for (const auto& path : files) {
    std::ifstream file(path, std::ios::binary);
    all.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return all;
}

class Replay : public testing::TestWithParam<target> {};

TEST_P(Replay, NoFileOfTheCorpusAndNoChangeOfItIsAFinding) {
  const auto& t = GetParam();
  constexpr std::size_t max_bytes = 64 << 10;
  const auto corpus = corpus_of(t);
  ASSERT_GE(corpus.size(), 2u) << "seeds of " << t.name;
  t.run({});
  random64 draw(std::hash<std::string_view>{}(t.name));
  const mutator by_seed = [&](bytes& part, std::size_t limit) { change(part, limit, draw); };
  for (const auto& seed : corpus) {
    t.run(seed);
    for (int i = 0; i < t.rounds; ++i) {
      auto changed = seed;
      if (t.mutate != nullptr) {
        t.mutate(changed, by_seed, draw());
      } else {
        by_seed(changed, max_bytes);
      }
      t.run(changed);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Replay, testing::ValuesIn(targets().begin(), targets().end()),
                         [](const auto& given) { return std::string(given.param.name); });

}  // namespace
}  // namespace cairn::fuzz::replay_test
