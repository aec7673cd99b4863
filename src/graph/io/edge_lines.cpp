// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <type_traits>

#include <cairn/base/types.hpp>
#include <cairn/graph/io/edge_lines.hpp>

#ifdef __SSE2__
#include <emmintrin.h>
#endif
#include <cairn/graph/io/scan.hpp>

#include "no_weight.hpp"
#include "scan_weight.hpp"

namespace cairn::graph::io {
namespace {

enum class stop_reason { at_end, at_wide_id, at_real_weight };

template <class Id, class Weight>
struct output {
  edge<Id>* edges;
  Weight* weights;
  std::size_t count = 0;
};

/// The syntax of a format's lines.
struct line_rule {
  std::string_view comments;  ///< a line that begins with one of these is ignored
  bool commas = false;        ///< allowed between numbers
  char letter = 0;            ///< begins each edge's line; 0: none
  std::uint64_t first_id = 0;
  std::uint64_t num_ids = std::numeric_limits<std::uint64_t>::max();
  weight_rule weights;
};

line_rule rule_of(const text_layout& layout) {
  line_rule rule;
  rule.first_id = layout.first_id();
  if (layout.vertices) rule.num_ids = *layout.vertices;
  rule.weights = layout.weights;
  switch (layout.format) {
    case file_format::matrix_market:
      rule.comments = "%";
      break;
    case file_format::dimacs:
      rule.comments = layout.ignored;
      rule.letter = layout.line_letter;
      break;
    default:
      rule.comments = "#%";
      rule.commas = true;
  }
  return rule;
}

/// Skips the line at p, which does not begin like an edge. Throws unless it is blank or a comment.
const char* skip_other_line(const char* p, const char* end, const line_rule& rule) {
  p = skip_blanks(p);
  if (p != end && rule.comments.find(*p) != std::string_view::npos) return next_line(p, end);
  if (const char* const behind = end_of_line(p, end)) return behind;
  if (rule.letter == 0) fail_id(p, end);
  if (*p == 'p') throw text_fault{p, "a second problem line 'p ...': there can be only one"};
  if (*p == 'n' && rule.letter == 'a') {
    throw text_fault{p, "a line 'n ...' is allowed only before the first arc of 'p max'"};
  }
  if (rule.letter == 'e') fail_expected(p, end, "an edge ('e ID ID') or a comment ('c ...')");
  fail_expected(p, end, "an arc ('a SOURCE TARGET WEIGHT') or a comment ('c ...')");
}

/// The position of the next number, where p is the end of the previous one.
inline const char* next_number(const char* p, const char* end, const line_rule& rule) {
  if (is_blank(*p) && is_digit(p[1])) [[likely]]
    return p + 1;
  const char* const start = p;
  p = skip_blanks(p);
  if (rule.commas && (*p == ',' || *p == ';')) p = skip_blanks(p + 1);
  if (p == end || *p == '\n' || *p == '\r') fail_expected(p, end, "another number after a blank");
  if (p == start) fail_expected(p, end, "a blank after an id (an integer)");
  return p;
}

inline const char* finish_line(const char* p, const char* end) {
  if (*p == '\n') [[likely]]
    return p + 1;
  const char* const behind = end_of_line(p, end);
  if (behind == nullptr) fail_expected(skip_blanks(p), end, "the end of the line");
  return behind;
}

/// Throws if `id` is out of the file's range; returns if it is only too large for a 32-bit block.
template <class Id>
void check_unusual_id(const char* word, std::uint64_t id, const line_rule& rule) {
  if (id - rule.first_id < rule.num_ids) return;
  if (id < rule.first_id) {
    throw text_fault{word, "the id 0 is out of range: this format counts vertices from 1"};
  }
  throw text_fault{word, "the id " + std::to_string(id) + " is out of range: the header declares " +
                             std::to_string(rule.num_ids) + " vertices"};
}

/// Reads a line "u v\n" at p if it has at most 16 bytes and its numbers have at most 8 digits.
/// Returns the position after it, else nullptr.
///
/// One 16-byte comparison finds the ends of both numbers, so that the next line begins about 20
/// cycles after this one; scanning each number separately takes half as much again.
inline const char* scan_short_line([[maybe_unused]] const char* p,
                                   [[maybe_unused]] std::uint64_t& source,
                                   [[maybe_unused]] std::uint64_t& target) noexcept {
#ifdef __SSE2__
  const auto text = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  // As signed bytes, '0'..'9' become -128..-119, the only values below -118.
  const auto shifted = _mm_add_epi8(text, _mm_set1_epi8(static_cast<char>(-128 - '0')));
  const auto digits = _mm_movemask_epi8(_mm_cmplt_epi8(shifted, _mm_set1_epi8(-118)));
  const auto others = ~static_cast<unsigned>(digits) & 0xffffu;
  const auto rest = others & (others - 1);
  if (rest == 0) return nullptr;
  const int first = std::countr_zero(others);
  const int second = std::countr_zero(rest);
  const int second_digits = second - first - 1;
  if (first == 0 || first > 8 || second_digits == 0 || second_digits > 8 || p[second] != '\n' ||
      !is_blank(p[first])) {
    return nullptr;
  }
  source = value_of_digits(p, first);
  target = value_of_digits(p + first + 1, second_digits);
  return p + second + 1;
#else
  return nullptr;
#endif
}

template <class Id, class Weight, bool Letter>
stop_reason scan(std::string_view text, const line_rule& rule, output<Id, Weight>& out) {
  const char* p = text.data();
  const char* const end = p + text.size();
  const auto limit = std::min<std::uint64_t>(rule.num_ids, no_vertex<Id>);
  auto* edges = out.edges;
  auto* weights = out.weights;
  while (p != end) {
    if constexpr (!Letter && std::is_same_v<Weight, no_weight>) {
      std::uint64_t source = 0, target = 0;
      const char* const behind = scan_short_line(p, source, target);
      source -= rule.first_id;
      target -= rule.first_id;
      if (behind != nullptr && source < limit && target < limit) [[likely]] {
        *edges++ = {static_cast<Id>(source), static_cast<Id>(target)};
        p = behind;
        continue;
      }
    }
    if constexpr (Letter) {
      if (*p != rule.letter || !is_blank(p[1])) [[unlikely]] {
        const char* const word = skip_blanks(p);
        p = *word == rule.letter && is_blank(word[1]) ? word : skip_other_line(p, end, rule);
        if (p != word) continue;
      }
      p = skip_blanks(p + 1);
    } else if (!is_digit(*p)) [[unlikely]] {
      const char* const word = skip_blanks(p);
      p = is_digit(*word) ? word : skip_other_line(p, end, rule);
      if (p != word) continue;
    }
    const char* const first = p;
    std::uint64_t source = 0;
    p = scan_id(p, end, source);
    p = next_number(p, end, rule);
    const char* const second = p;
    std::uint64_t target = 0;
    p = scan_id(p, end, target);
    source -= rule.first_id;
    target -= rule.first_id;
    if (source >= limit || target >= limit) [[unlikely]] {
      check_unusual_id<Id>(first, source + rule.first_id, rule);
      check_unusual_id<Id>(second, target + rule.first_id, rule);
      return stop_reason::at_wide_id;
    }
    if constexpr (!std::is_same_v<Weight, no_weight>) {
      p = next_number(p, end, rule);
      p = scan_weight(p, end, rule.weights, *weights,
                      [&] { return edge_name(source + rule.first_id, target + rule.first_id); });
      if (p == nullptr) return stop_reason::at_real_weight;
      ++weights;
    }
    p = finish_line(p, end);
    *edges++ = {static_cast<Id>(source), static_cast<Id>(target)};
  }
  out.count = static_cast<std::size_t>(edges - out.edges);
  return stop_reason::at_end;
}

/// Parses with these types. Returns why it stopped if the block needs wider ones.
template <class Id, class Weight>
stop_reason parse_as(std::string_view text, const line_rule& rule, parse_scratch& scratch,
                     edge_block& block) {
  // The shortest line is "0 1\n", without the newline if it is the last.
  const auto max_edges = text.size() / 4 + 1;
  const auto weight_bytes = std::is_same_v<Weight, no_weight> ? 0 : sizeof(Weight);
  auto* const memory = scratch.at_least(max_edges * (sizeof(edge<Id>) + weight_bytes));
  output<Id, Weight> out{reinterpret_cast<edge<Id>*>(memory),
                         reinterpret_cast<Weight*>(memory + max_edges * sizeof(edge<Id>))};
  const auto stopped = rule.letter != 0 ? scan<Id, Weight, true>(text, rule, out)
                                        : scan<Id, Weight, false>(text, rule, out);
  if (stopped != stop_reason::at_end) return stopped;
  block.edges = std::vector<edge<Id>>(out.edges, out.edges + out.count);
  if constexpr (!std::is_same_v<Weight, no_weight>) {
    block.weights = std::vector<Weight>(out.weights, out.weights + out.count);
  }
  return stopped;
}

template <class Weight>
stop_reason parse_with(std::string_view text, const line_rule& rule, parse_scratch& scratch,
                       edge_block& block) {
  const auto stopped = parse_as<std::uint32_t, Weight>(text, rule, scratch, block);
  if (stopped != stop_reason::at_wide_id) return stopped;
  return parse_as<std::uint64_t, Weight>(text, rule, scratch, block);
}

/// The offset in the text where this entry begins.
std::uint64_t offset_of(std::size_t entry, std::string_view text) {
  const char* p = text.data();
  const char* const end = p + text.size();
  while (true) {
    if (is_digit(*skip_blanks(p)) && entry-- == 0) {
      return static_cast<std::uint64_t>(p - text.data());
    }
    p = next_line(p, end);
  }
}

void find_sides(std::string_view text, parsed_lines& parsed) {
  std::visit(
      [&](const auto& edges) {
        const auto find = [&](auto&& is_there) -> std::optional<std::uint64_t> {
          const auto at = std::find_if(edges.begin(), edges.end(), is_there);
          if (at == edges.end()) return std::nullopt;
          return offset_of(static_cast<std::size_t>(at - edges.begin()), text);
        };
        parsed.below = find([](const auto& e) { return e.source > e.target; });
        parsed.above = find([](const auto& e) { return e.source < e.target; });
      },
      parsed.edges.edges);
}

/// Throws the fault of the first entry of a skew-symmetric matrix that is not 0: its weight or that
/// of its opposite is negative.
void expect_zeros(std::string_view text, const edge_block& block) {
  std::visit(
      [&](const auto& weights) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(weights)>, std::monostate>) {
          const auto at = std::ranges::find_if(weights, [](auto weight) { return weight != 0; });
          if (at == weights.end()) return;
          throw text_fault{
              text.data() + offset_of(static_cast<std::size_t>(at - weights.begin()), text),
              "expected weights of at least 0, but a skew-symmetric matrix has the negative of "
              "this weight for the opposite direction"};
        }
      },
      block.weights);
}

/// Appends (j, i, -w) for each (i, j, w).
void add_opposites(std::string_view text, edge_block& block) {
  std::visit(
      [&](auto& edges) {
        const auto n = edges.size();
        edges.reserve(2 * n);
        for (std::size_t i = 0; i < n; ++i) {
          const auto e = edges[i];
          if (e.source == e.target) {
            throw text_fault{text.data() + offset_of(i, text),
                             "an entry on the diagonal of a skew-symmetric matrix"};
          }
          edges.push_back({e.target, e.source});
        }
      },
      block.edges);
  std::visit(
      [](auto& weights) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(weights)>, std::monostate>) {
          const auto n = weights.size();
          weights.reserve(2 * n);
          for (std::size_t i = 0; i < n; ++i) weights.push_back(-weights[i]);
        }
      },
      block.weights);
}

}  // namespace

parsed_lines parse_edge_lines(std::string_view text, const text_layout& layout, bool real_weights,
                              parse_scratch& scratch) {
  const auto rule = rule_of(layout);
  parsed_lines parsed;
  if (!layout.weighted) {
    parse_with<no_weight>(text, rule, scratch, parsed.edges);
  } else if (real_weights || parse_with<std::int32_t>(text, rule, scratch, parsed.edges) ==
                                 stop_reason::at_real_weight) {
    parse_with<double>(text, rule, scratch, parsed.edges);
  }
  parsed.entries = parsed.edges.size();
  if (layout.sides != symmetry::general) find_sides(text, parsed);
  if (layout.sides == symmetry::skew) {
    if (layout.weights.not_negative) expect_zeros(text, parsed.edges);
    add_opposites(text, parsed.edges);
  }
  return parsed;
}

}  // namespace cairn::graph::io
