// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <cmath>

#include <cairn/graph/io/mapped_file.hpp>
#include <cairn/graph/io/properties.hpp>
#include <cairn/graph/io/scan.hpp>
#include <cairn/graph/io/text_source.hpp>

namespace cairn::graph::io {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr auto blanks = " \t\r";
  const auto begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

template <class T>
bool read_all(std::string_view text, T& to) {
  const auto* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, to);
  return error == std::errc() && at == end;
}

}  // namespace

properties::properties(const std::string& path) : path_(path) {
  const mapped_file file(path);
  auto rest = file.text();
  if (rest.starts_with(byte_order_mark)) rest.remove_prefix(byte_order_mark.size());
  for (std::uint64_t line = 1; !rest.empty(); ++line) {
    const auto whole = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), whole.size() + 1));
    const auto text = trimmed(whole);
    if (text.empty() || text[0] == '#' || text[0] == '!') continue;
    const auto at = text.find('=');
    if (at == std::string_view::npos) {
      throw input_error::at_line(
          path, line,
          "expected 'key = value', found " + quoted_line(text.data(), text.data() + text.size()));
    }
    const auto key = trimmed(text.substr(0, at));
    const bool added =
        properties_.try_emplace(std::string(key), std::string(trimmed(text.substr(at + 1))), line)
            .second;
    if (!added) throw input_error::at_line(path, line, std::string(key) + " is given twice");
  }
}

const std::string& properties::text(std::string_view key) const {
  const auto at = properties_.find(key);
  if (at != properties_.end()) return at->second.value;
  throw input_error::in_file(path_, "has no property '" + std::string(key) + "'");
}

input_error properties::unexpected(std::string_view key, const std::string& expected) const {
  const auto& found = properties_.find(key)->second;
  const auto* const begin = found.value.data();
  return input_error::at_line(path_, found.line,
                              std::string(key) + ": expected " + expected + ", found " +
                                  quoted_line(begin, begin + found.value.size()));
}

std::uint64_t properties::integer(std::string_view key) const {
  std::uint64_t value = 0;
  if (read_all(text(key), value)) return value;
  throw unexpected(key, "an integer from 0 to 2^64 - 1");
}

double properties::real(std::string_view key) const {
  double value = 0;
  if (read_all(text(key), value) && std::isfinite(value)) return value;
  throw unexpected(key, "a number");
}

bool properties::boolean(std::string_view key) const {
  const auto& value = text(key);
  if (value == "true" || value == "false") return value == "true";
  throw unexpected(key, "true or false");
}

}  // namespace cairn::graph::io
