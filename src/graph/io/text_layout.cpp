// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <vector>

#include <cairn/graph/io/scan.hpp>
#include <cairn/graph/io/text_layout.hpp>

#include "flow_lines.hpp"
#include "head_lines.hpp"

namespace cairn::graph::io {
namespace {

constexpr std::size_t first_head_bytes = std::size_t{64} << 10;
constexpr std::size_t max_head_bytes = std::size_t{32} << 20;

std::string lower(std::string_view word) {
  std::string text(word);
  std::erase(text, '"');
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

[[noreturn]] void fail_columns(const head_lines& at, std::size_t found) {
  throw text_fault{at.line(),
                   "expected 2 or 3 columns (source, target and perhaps a weight), found " +
                       std::to_string(found)};
}

/// Sets the properties that the number of columns of the first edge determines; `at` is at its
/// line.
void take_columns(const head_lines& at, std::size_t columns, text_layout& layout, bool text_ids) {
  const char* const word = skip_blanks(at.line());
  if (!text_ids && !is_digit(*word)) fail_id(word, at.stop());
  if (columns != 2 && columns != 3) fail_columns(at, columns);
  layout.weighted = columns == 3;
}

bool parse_edge_list(head_lines& at, text_layout& layout, bool text_ids) {
  if (!at.next_but("#%")) return false;
  layout.data_offset = at.offset();
  take_columns(at, at.words(",;").size(), layout, text_ids);
  if (layout.format == file_format::weighted_edge_list && !layout.weighted) {
    throw text_fault{at.line(), "expected 3 columns (source, target, weight), found 2"};
  }
  return true;
}

/// The column that a name in a CSV header denotes; 3 if it is not part of an edge. Nothing if the
/// name is unknown.
std::optional<std::size_t> column_of(const std::string& name) {
  struct known {
    const char* name;
    std::size_t column;
  };
  constexpr std::array<known, 10> all{{{"source", 0},
                                       {"src", 0},
                                       {"from", 0},
                                       {"target", 1},
                                       {"dst", 1},
                                       {"to", 1},
                                       {"destination", 1},
                                       {"weight", 2},
                                       {"id", 3},
                                       {"type", 3}}};
  for (const auto& k : all) {
    if (name == k.name) return k.column;
  }
  return std::nullopt;
}

/// Whether a field is a number rather than a name, also with a sign or in quotation marks.
bool is_number(std::string_view field) {
  const auto text = lower(field);
  const auto* const end = text.data() + text.size();
  const auto* const p = text.data() + (text.starts_with('-') || text.starts_with('+') ? 1 : 0);
  double ignored = 0;
  return p != end && (is_digit(*p) || *p == '.') && std::from_chars(p, end, ignored).ptr == end;
}

/// A table with unknown column names is read by position; a table with known names in another order
/// would be read wrongly. With text ids only the names distinguish a header from an edge.
void check_names(const std::vector<std::string_view>& names, bool text_ids) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto name = lower(names[i]);
    const auto column = column_of(name);
    if (column && i != *column) {
      throw text_fault{names[i].data(), "column " + std::to_string(i + 1) + " is named '" + name +
                                            "': expected source,target or source,target,weight"};
    }
    if (text_ids && i < 2 && !column) {
      throw text_fault{names[i].data(),
                       "with text ids a .csv file begins with a header such as "
                       "source,target, src,dst or from,to; found " +
                           quoted(names[i].data(), names[i].data() + names[i].size())};
    }
  }
}

bool parse_csv(head_lines& at, text_layout& layout, bool text_ids) {
  constexpr auto separators = ",;";
  if (!at.next_but("#%")) return false;
  const auto names = at.words(separators);
  // Without a header the first line is an edge; reading it as names would lose it.
  const bool headless = !text_ids && (is_digit(*skip_blanks(at.line())) || is_number(names[0]) ||
                                      (names.size() > 1 && is_number(names[1])));
  if (!headless) {
    if (names.size() != 2 && names.size() != 3) fail_columns(at, names.size());
    check_names(names, text_ids);
    if (!at.next_but("#%")) return false;
  }
  layout.data_offset = at.offset();
  take_columns(at, headless ? names.size() : at.words(separators).size(), layout, text_ids);
  if (!headless && layout.weighted != (names.size() == 3)) {
    throw text_fault{at.line(), "expected " + std::to_string(names.size()) +
                                    " columns as the header has, found " +
                                    std::to_string(layout.weighted ? 3 : 2)};
  }
  return true;
}

void parse_banner(const head_lines& at, text_layout& layout) {
  const auto words = at.words();
  const auto is = [&](std::size_t i, const char* word) {
    return i < words.size() && lower(words[i]) == word;
  };
  const auto refuse = [&](std::size_t i, const std::string& why) {
    throw text_fault{i < words.size() ? words[i].data() : at.line(), why};
  };
  if (!is(0, "%%matrixmarket") || !is(1, "matrix") || words.size() != 5) {
    refuse(0, "expected '%%MatrixMarket matrix coordinate FIELD SYMMETRY', found " +
                  quoted_line(at.line(), at.stop()));
  }
  if (is(2, "array")) refuse(2, "a dense matrix ('array') is no graph: expected 'coordinate'");
  if (!is(2, "coordinate"))
    refuse(2, "expected 'coordinate', found " + quoted(words[2].data(), at.stop()));
  if (is(3, "complex"))
    refuse(3, "a complex matrix cannot be a graph: expected pattern, integer or real");
  if (is(4, "hermitian")) {
    refuse(4,
           "a Hermitian matrix cannot be a graph: expected general, symmetric or skew-symmetric");
  }
  layout.weighted = is(3, "integer") || is(3, "real") || is(3, "double");
  if (is(3, "integer")) layout.weights.numbers = weight_numbers::integer;
  if (!layout.weighted && !is(3, "pattern")) {
    refuse(3, "expected pattern, integer or real, found " + quoted(words[3].data(), at.stop()));
  }
  if (is(4, "symmetric")) layout.sides = symmetry::symmetric;
  if (is(4, "skew-symmetric")) layout.sides = symmetry::skew;
  if (layout.sides == symmetry::general && !is(4, "general")) {
    refuse(4, "expected general, symmetric or skew-symmetric, found " +
                  quoted(words[4].data(), at.stop()));
  }
  if (layout.sides == symmetry::skew && !layout.weighted) {
    refuse(4, "a pattern matrix cannot be skew-symmetric: it has no values");
  }
}

bool parse_matrix_market(head_lines& at, text_layout& layout) {
  if (!at.next()) return false;
  parse_banner(at, layout);
  if (!at.next_but("%")) return false;
  layout.header_offset = at.offset();
  const auto sizes = at.numbers(0);
  if (sizes.size() != 3) {
    throw text_fault{at.line(), "expected three numbers (rows, columns, entries), found " +
                                    std::to_string(sizes.size())};
  }
  if (sizes[0] != sizes[1]) {
    throw text_fault{at.line(), "a graph's matrix is square, but this one has " +
                                    std::to_string(sizes[0]) + " rows and " +
                                    std::to_string(sizes[1]) + " columns"};
  }
  layout.vertices = sizes[0];
  layout.entries = sizes[2];
  layout.data_offset = at.next_offset();
  return true;
}

/// Advances over the lines that name the source and the sink. Returns false if they do not end
/// within the head.
bool skip_terminals(head_lines& at, text_layout& layout) {
  flow_terminals found;
  layout.data_offset = at.next_offset();
  while (at.next_but("c")) {
    if (*skip_blanks(at.line()) != 'n') return true;
    read_terminal(at, *layout.vertices, found);
    layout.data_offset = at.next_offset();
  }
  return at.whole();
}

bool parse_dimacs(head_lines& at, text_layout& layout) {
  if (!at.next_but("c")) return false;
  const auto words = at.words();
  const auto is = [&](const char* kind) { return words[1] == kind; };
  const bool problem = words.size() == 4 && words[0] == "p";
  const bool coloring = problem && (is("edge") || is("edges") || is("col"));
  if (!problem || (!coloring && !is("sp") && !is("max") && !is("tw"))) fail_problem(at);
  const auto sizes = at.numbers(2);
  layout.header_offset = at.offset();
  layout.vertices = sizes[0];
  layout.entries = sizes[1];
  layout.undirected = coloring || is("tw");
  layout.weighted = !layout.undirected;
  layout.ignored = "c";
  if (layout.weighted) layout.line_letter = 'a';
  if (coloring) {
    layout.line_letter = 'e';
    layout.ignored = "cndvx";  // values of vertices, and properties of generators
  }
  if (is("max") && layout.vertices != 0) return skip_terminals(at, layout);
  layout.data_offset = at.next_offset();
  return true;
}

bool parse_metis(head_lines& at, text_layout& layout) {
  if (!at.next_but("%")) return false;
  layout.header_offset = at.offset();
  const auto numbers = at.numbers(0);
  if (numbers.size() < 2 || numbers.size() > 4) {
    throw text_fault{at.line(), "expected 'VERTICES EDGES [FORMAT [CONSTRAINTS]]', found " +
                                    std::to_string(numbers.size()) + " numbers"};
  }
  layout.vertices = numbers[0];
  layout.entries = numbers[1];
  const auto format = numbers.size() > 2 ? numbers[2] : 0;
  if (format > 111 || format % 10 > 1 || format / 10 % 10 > 1) {
    throw text_fault{at.line(),
                     "expected a format of three digits 0 or 1, found " + std::to_string(format)};
  }
  layout.vertex_sizes = format / 100 == 1;
  const bool has_vertex_weights = format / 10 % 10 == 1;
  layout.weighted = format % 10 == 1;
  const auto constraints = numbers.size() > 3 ? numbers[3] : 1;
  if (has_vertex_weights) layout.vertex_weights = constraints;
  layout.data_offset = at.next_offset();
  return true;
}

}  // namespace

std::optional<text_layout> parse_layout(std::string_view head, bool whole, file_format format,
                                        bool text_ids) {
  head_lines at(head, whole);
  text_layout layout;
  layout.format = format;
  bool found = false;
  switch (format) {
    case file_format::edge_list:
    case file_format::weighted_edge_list:
      found = parse_edge_list(at, layout, text_ids);
      break;
    case file_format::csv:
      found = parse_csv(at, layout, text_ids);
      break;
    case file_format::matrix_market:
      found = parse_matrix_market(at, layout);
      break;
    case file_format::dimacs:
      found = parse_dimacs(at, layout);
      break;
    case file_format::metis:
      found = parse_metis(at, layout);
      break;
    case file_format::native:
      break;
  }
  if (!found && whole) {
    const bool declares = format == file_format::matrix_market || format == file_format::dimacs ||
                          format == file_format::metis;
    if (declares) throw text_fault{head.data(), "the file ends before its header does"};
    layout.edgeless = true;
    layout.data_offset = head.size();
    return layout;
  }
  if (!found) return std::nullopt;
  if (layout.vertices == 0) {
    throw text_fault{head.data() + layout.header_offset, "the header declares no vertices"};
  }
  return layout;
}

text_layout read_layout(text_source& source, file_format format, bool text_ids) {
  for (auto bytes = first_head_bytes;; bytes *= 8) {
    const auto head = source.head(bytes);
    try {
      if (auto layout = parse_layout(head, head.size() < bytes, format, text_ids)) return *layout;
    } catch (const text_fault& fault) {
      throw source.error(static_cast<std::uint64_t>(fault.at - head.data()), fault.problem);
    }
    if (bytes >= max_head_bytes) {
      throw source.error(0, "the first 32 MiB contain neither a header nor an edge");
    }
  }
}

}  // namespace cairn::graph::io
