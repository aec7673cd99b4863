// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <type_traits>
#include <utility>

#include <cairn/base/error.hpp>
#include <cairn/graph/io/scan.hpp>
#include <cairn/graph/io/text_source.hpp>
#include <cairn/task/per_worker.hpp>

#include "head_lines.hpp"
#include "table_format.hpp"

namespace cairn::graph::io {
namespace {

constexpr std::size_t block_bytes = std::size_t{4} << 20;
constexpr std::size_t head_bytes = std::size_t{64} << 10;

/// Returns false if T cannot hold the value at p, also because it would mean "no value".
template <class T>
bool scan_value(const char* p, const char* stop, T& value) {
  const auto [behind, error] = std::from_chars(p, stop, value);
  if (error != std::errc{} || behind != stop) return false;
  if constexpr (std::is_same_v<T, double>) {
    return !std::isnan(value);
  } else {
    return value != missing_value<T>;
  }
}

/// Whether c may surround a field.
bool is_padding(char c, char separator) { return is_blank(c) && c != separator; }

const char* skip_padding(const char* p, char separator) {
  while (is_padding(*p, separator)) ++p;
  return p;
}

std::string_view without_padding(std::string_view field, char separator) {
  while (!field.empty() && is_padding(field.front(), separator)) field.remove_prefix(1);
  while (!field.empty() && is_padding(field.back(), separator)) field.remove_suffix(1);
  return field;
}

struct rows_part {
  std::vector<std::uint64_t> ids;
  value_vector values;
};

/// Which fields of a table are words; they are read as positions in `words`.
struct word_fields {
  const word_list* words = nullptr;
  bool values = false;

  [[nodiscard]] std::uint64_t place_of(std::string_view word, const char* end) const {
    const auto place = words->find(word);
    if (!place) fail_expected(word.data(), end, "an id of the graph");
    return *place;
  }
};

/// Returns false if T cannot hold a value of the text.
template <class T>
bool parse_as(std::string_view text, char separator, const word_fields& fields, rows_part& part) {
  part.ids.clear();
  auto& values = part.values.emplace<std::vector<T>>();
  const char* const end = text.data() + text.size();
  for (const char* p = text.data(); p != end;) {
    const char* const start = p;
    if (const char* const behind = end_of_line(p, end)) {  // a blank line
      p = behind;
      continue;
    }
    p = skip_padding(p, separator);
    if (fields.words == nullptr) {
      p = scan_id(p, end, part.ids.emplace_back());
    } else {
      const char* const id = p;
      while (p != end && *p != separator && !is_blank(*p) && *p != '\n' && *p != '\r') ++p;
      part.ids.push_back(fields.place_of({id, static_cast<std::size_t>(p - id)}, end));
    }
    p = skip_padding(p, separator);
    if (*p != separator) fail_expected(p, end, separator == ',' ? "a comma" : "a tab");
    const char* const rest = ++p;
    while (p != end && *p != '\n' && *p != '\r') ++p;
    const auto word = without_padding({rest, static_cast<std::size_t>(p - rest)}, separator);
    T value = missing_value<T>;
    if (!word.empty() && fields.values) {
      value = static_cast<T>(fields.place_of(word, end));
    } else if (!word.empty() && !scan_value(word.data(), word.data() + word.size(), value)) {
      if constexpr (!std::is_same_v<T, double>) return false;
      throw text_fault{word.data(), "expected a number or nothing, found " + quoted_line(rest, p)};
    }
    values.push_back(value);
    p = end_of_line(p, end);
    if (p == nullptr) fail_expected(start, end, "one row");
  }
  return true;
}

rows_part parse_rows(std::string_view text, char separator, const word_fields& fields) {
  rows_part part;
  if (!parse_as<std::uint64_t>(text, separator, fields, part) &&
      !parse_as<std::int64_t>(text, separator, fields, part)) {
    parse_as<double>(text, separator, fields, part);
  }
  return part;
}

/// Converts `value`; a missing value stays missing. Returns false if To cannot hold it.
template <class To, class From>
bool convert(From value, To& to) {
  if constexpr (std::is_same_v<From, To>) {
    to = value;
  } else if (value == missing_value<From>) {
    to = missing_value<To>;
  } else {
    to = static_cast<To>(value);
    if constexpr (std::is_same_v<To, std::int64_t>) return to >= 0;
  }
  return true;
}

/// Appends the parts' values as To. Returns false if To cannot hold one.
template <class To>
bool join(const std::map<std::uint64_t, rows_part>& parts, table& rows) {
  auto& values = rows.values.emplace<std::vector<To>>();
  bool all = true;
  for (const auto& [index, part] : parts) {
    std::visit(
        [&](const auto& column) {
          for (const auto value : column) all = convert(value, values.emplace_back()) && all;
        },
        part.values);
  }
  return all;
}

/// The value's name from the header line, and the offset of the first row.
std::pair<std::string, std::uint64_t> parse_header(std::string_view head, bool whole,
                                                   char separator) {
  head_lines at(head, whole);
  const auto* const expected =
      separator == ',' ? "a header line 'id,NAME'" : "a header line of 'id', a tab and a name";
  if (!at.next()) {
    throw text_fault{head.data(), whole ? "the file is empty: expected " + std::string(expected)
                                        : "the line is longer than 64 KiB"};
  }
  const std::string_view line(at.line(), static_cast<std::size_t>(at.stop() - at.line()));
  const auto first_field = line.substr(0, line.find(separator));
  const auto behind = line.substr(std::min(first_field.size() + 1, line.size()));
  const auto name = without_padding(behind, separator);
  if (without_padding(first_field, separator) != "id" || name.empty() ||
      name.find(separator) != std::string_view::npos) {
    throw text_fault{at.line(), "expected " + std::string(expected) + ", found " +
                                    quoted_line(at.line(), at.stop())};
  }
  return {std::string(name), at.next_offset()};
}

}  // namespace

table read_text_table(task::pool& workers, const std::string& path, char separator,
                      std::uint64_t max_rows, const word_list* words,
                      const name_predicate& holds_ids) {
  text_source source(path, block_bytes);
  table rows;
  const auto head = source.head(head_bytes);
  try {
    const auto [name, offset] = parse_header(head, head.size() < head_bytes, separator);
    rows.value_name = name;
    source.skip_to(offset);
  } catch (const text_fault& fault) {
    throw source.error(static_cast<std::uint64_t>(fault.at - head.data()), fault.problem);
  }
  const word_fields fields{words, words != nullptr && holds_ids && holds_ids(rows.value_name)};
  task::per_worker<std::map<std::uint64_t, rows_part>> found(workers.workers());
  std::atomic<std::uint64_t> num_rows{0};
  const auto fault = source.for_each_block(workers, {}, [&](worker_t k, const text_block& block) {
    auto part = parse_rows(block.text, separator, fields);
    if (num_rows += part.ids.size(); num_rows > max_rows) {
      throw text_fault{block.text.data(), "too many rows"};  // skips the following blocks
    }
    found[k].emplace(block.index, std::move(part));
  });
  if (num_rows > max_rows) throw too_many_rows(path, max_rows);
  if (fault) throw source.error(*fault);
  std::map<std::uint64_t, rows_part> parts;
  std::size_t kind = 0;
  for (auto& of_worker : found) parts.merge(of_worker.value);
  for (const auto& [index, part] : parts) {
    rows.ids.insert(rows.ids.end(), part.ids.begin(), part.ids.end());
    kind = std::max(kind, part.values.index());
  }
  const bool held = (kind == 0 && join<std::uint64_t>(parts, rows)) ||
                    (kind == 1 && join<std::int64_t>(parts, rows));
  if (!held) join<double>(parts, rows);
  return rows;
}

}  // namespace cairn::graph::io
