// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <cairn/am/epoch.hpp>
#include <cairn/am/record_channel.hpp>
#include <cairn/base/error.hpp>
#include <cairn/base/types.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/io/scan.hpp>
#include <cairn/graph/io/word_lines.hpp>
#include <cairn/task/per_worker.hpp>

#include "graph/gather.hpp"
#include "no_weight.hpp"
#include "scan_weight.hpp"

namespace cairn::graph::io {
namespace {

constexpr std::size_t memory_at_once = std::size_t{64} << 10;

/// The word at p, which a blank, a separator or the line's end terminates.
std::string_view word_at(const char* p, const char* end) {
  const char* const start = p;
  while (p != end && !is_blank(*p) && *p != '\n' && *p != '\r' && *p != ',' && *p != ';') ++p;
  return {start, static_cast<std::size_t>(p - start)};
}

/// The position of the next field, after the blanks and at most one comma or semicolon at p.
const char* next_field(const char* p, const char* end) {
  const char* const start = p;
  p = skip_blanks(p);
  if (p != end && (*p == ',' || *p == ';')) p = skip_blanks(p + 1);
  if (p == start || p == end || *p == '\n' || *p == '\r') {
    fail_expected(p, end, "another field after a blank or comma");
  }
  return p;
}

/// Returns false if Weight is a 32-bit integer and some weight is not.
///
/// number_of   number_of(word, end) of an id; throws text_fault if it is none
template <class Weight, class Numbers>
bool parse(std::string_view text, const weight_rule& rule, const Numbers& number_of,
           edge_block& block) {
  using number = std::invoke_result_t<Numbers, std::string_view, const char*>;
  auto& edges = block.edges.emplace<std::vector<edge<number>>>();
  std::vector<Weight> weights;
  const char* const end = text.data() + text.size();
  for (const char* p = text.data(); p != end;) {
    if (const char* const behind = end_of_line(p, end)) {
      p = behind;
      continue;
    }
    p = skip_blanks(p);
    if (*p == '#' || *p == '%') {
      p = next_line(p, end);
      continue;
    }
    const auto source = word_at(p, end);
    const auto from = number_of(source, end);
    p = next_field(source.data() + source.size(), end);
    const auto target = word_at(p, end);
    const auto to = number_of(target, end);
    p = target.data() + target.size();
    if constexpr (!std::is_same_v<Weight, no_weight>) {
      p = next_field(p, end);
      p = scan_weight(p, end, rule, weights.emplace_back(),
                      [&] { return edge_name(std::string(source), std::string(target)); });
      if (p == nullptr) return false;
    }
    const char* const behind = end_of_line(p, end);
    if (behind == nullptr) fail_expected(skip_blanks(p), end, "the end of the line");
    p = behind;
    edges.push_back({from, to});
  }
  if constexpr (!std::is_same_v<Weight, no_weight>) block.weights = std::move(weights);
  return true;
}

template <class Numbers>
edge_block parse(std::string_view text, const text_layout& layout, bool real_weights,
                 const Numbers& number_of) {
  edge_block block;
  if (!layout.weighted) {
    static_cast<void>(parse<no_weight>(text, layout.weights, number_of, block));
  } else if (real_weights || !parse<std::int32_t>(text, layout.weights, number_of, block)) {
    static_cast<void>(parse<double>(text, layout.weights, number_of, block));
  }
  return block;
}

std::string joined(const std::vector<std::string_view>& words) {
  std::string text;
  for (const auto word : words) (text += word) += '\n';
  return text;
}

/// Sorted, without duplicates.
std::vector<std::string_view> sorted(const std::vector<const dictionary*>& dictionaries) {
  std::vector<std::string_view> words;
  for (const auto* d : dictionaries) {
    words.insert(words.end(), d->words().begin(), d->words().end());
  }
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words;
}

/// The words of all ranks that belong to this one, by their hash. Collective.
std::string words_by_hash(world& w, std::span<const std::string_view> mine) {
  task::per_worker<dictionary> kept(w.workers());
  am::record_channel words(w, [&](worker_t k, am::record_batch batch) {
    for (const auto record : batch) {
      kept[k].number_of({reinterpret_cast<const char*>(record.data()), record.size()});
    }
  });
  am::epoch epoch(w);
  w.parallel_for(
      mine.size(),
      [&](worker_t k, std::size_t i, std::size_t end) {
        for (; i < end; ++i) {
          const auto to =
              std::hash<std::string_view>()(mine[i]) % static_cast<std::size_t>(w.size());
          words.send(k, static_cast<rank_t>(to), std::as_bytes(std::span(mine[i])));
        }
      },
      1024);
  epoch.close();
  std::vector<const dictionary*> parts;
  for (const auto& k : kept) parts.push_back(&k.value);
  return joined(sorted(parts));
}

}  // namespace

std::string_view dictionary::keep(std::string_view word) {
  if (word.size() > left_) {
    left_ = std::max(memory_at_once, word.size());
    free_ = memory_.emplace_back(new char[left_]).get();
  }
  std::memcpy(free_, word.data(), word.size());
  const std::string_view kept(free_, word.size());
  free_ += word.size();
  left_ -= word.size();
  return kept;
}

std::uint32_t dictionary::number_of(std::string_view word) {
  const auto at = numbers_.find(word);
  if (at != numbers_.end()) return at->second;
  if (words_.size() >= no_vertex<std::uint32_t> - 1) {
    throw text_fault{word.data(), "more than 2^32 - 2 different ids for one worker"};
  }
  const auto number = static_cast<std::uint32_t>(words_.size());
  words_.push_back(keep(word));
  numbers_.emplace(words_.back(), number);
  return number;
}

edge_block parse_word_lines(std::string_view text, const text_layout& layout, bool real_weights,
                            dictionary& known) {
  return parse(text, layout, real_weights, [&](std::string_view word, const char* end) {
    if (!is_word(word)) {
      fail_expected(word.data(), end,
                    "an id: text without quotation marks and control characters that does not "
                    "begin with # or %");
    }
    return known.number_of(word);
  });
}

edge_block parse_vertex_pairs(std::string_view text, const text_layout& layout, bool real_weights,
                              const labels& names) {
  return parse(text, layout, real_weights, [&](std::string_view word, const char* end) {
    const auto v = names.vertex_of(word);
    if (!v) fail_expected(word.data(), end, "an id of the graph");
    return *v;
  });
}

word_list agree_on_words(world& w, const std::vector<const dictionary*>& mine) {
  auto own = sorted(mine);
  std::vector<std::vector<char>> texts;
  if (w.size() > 1) {
    const auto text = words_by_hash(w, own);
    texts = gather_lists(w, std::span<const char>(text));
    own.clear();
    for (const auto& theirs : texts) {
      for (auto at = theirs.begin(); at != theirs.end();) {
        const auto stop = std::find(at, theirs.end(), '\n');
        own.emplace_back(&*at, static_cast<std::size_t>(stop - at));
        at = stop + 1;
      }
    }
    std::sort(own.begin(), own.end());
  }
  word_list all;
  std::uint64_t characters = 0;
  for (const auto word : own) characters += word.size();
  all.reserve(own.size(), characters);
  for (const auto word : own) all.push_back(word);
  return all;
}

}  // namespace cairn::graph::io
