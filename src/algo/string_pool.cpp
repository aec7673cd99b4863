// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <cairn/algo/string_pool.hpp>
#include <cairn/base/error.hpp>
#include <cairn/graph/io/scan.hpp>
#include <cairn/graph/io/text_source.hpp>
#include <cairn/task/per_worker.hpp>

namespace cairn::algo {
namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 20;
constexpr std::size_t max_bytes = 20;
constexpr std::size_t max_line_bytes = std::size_t{1} << 30;  // texts without line ends

bool is_space(char c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_control(char c) noexcept {
  return (static_cast<unsigned char>(c) < ' ' && !is_space(c)) || c == 0x7f;
}

pool_words words_of(std::string_view text) {
  pool_words found;
  const char* const end = text.data() + text.size();
  for (const char* p = text.data(); p != end;) {
    if (is_space(*p)) {
      ++p;
      continue;
    }
    const char* const first = p;
    while (p != end && !is_space(*p)) {
      if (is_control(*p)) {
        throw graph::io::text_fault{
            p, "expected text, found the control character " + graph::io::quoted(p, p + 1)};
      }
      ++p;
    }
    const auto bytes = static_cast<std::size_t>(p - first);
    found.cut += bytes > max_bytes;
    found.words.emplace_back(std::string_view(first, std::min(bytes, max_bytes)));
  }
  return found;
}

}  // namespace

pool_words read_words(world& w, const std::string& path,
                      const std::function<void(std::uint64_t, std::uint64_t)>& progress) {
  graph::io::text_source source(path, block_bytes);
  source.limit_lines(max_line_bytes);
  using part = std::pair<std::uint64_t, pool_words>;  // a block's number and words
  task::per_worker<std::vector<part>> parts(w.workers());
  const auto fault =
      source.for_each_block(w.pool(), {.rank = 0, .size = 1, .count = {}, .progress = progress},
                            [&](worker_t k, const graph::io::text_block& block) {
                              parts[k].emplace_back(block.index, words_of(block.text));
                            });
  if (fault) throw source.error(*fault);
  std::vector<part> all;
  for (auto& mine : parts) {
    std::ranges::move(mine.value, std::back_inserter(all));
    mine.value.clear();
  }
  std::ranges::sort(all, {}, &part::first);
  pool_words whole;
  for (auto& [number, words] : all) {
    whole.cut += words.cut;
    whole.words.insert(whole.words.end(), words.words.begin(), words.words.end());
    words.words = {};
  }
  if (whole.words.empty()) throw input_error::in_file(path, "contains no word");
  return whole;
}

}  // namespace cairn::algo
