// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <cairn/graph/io/file_format.hpp>
#include <cairn/graph/io/scan.hpp>
#include <cairn/graph/io/text_source.hpp>
#include <cairn/graph/io/vertex_lines.hpp>
#include <cairn/task/per_worker.hpp>

namespace cairn::graph::io {
namespace {

std::string name_of(char separator) {
  return separator == ',' ? "a comma" : separator == '\t' ? "a tab" : "a space";
}

/// Throws the fault of a line at `word`, which is not an id of the graph. If it contains another
/// separator, that is the fault.
[[noreturn]] void fail_word(std::string_view word, const char* end, char separator) {
  const auto at = word.find_first_of(" \t,;");
  if (at == 0 || at == std::string_view::npos) {
    fail_expected(word.data(), end, "an id of the graph");
  }
  const char other = word[at];
  throw text_fault{word.data() + at, "expected " + name_of(separator) + " between ids, found " +
                                         (other == ';' ? "a semicolon" : name_of(other))};
}

vertex_lines parse(std::string_view text, char separator, const labels& names) {
  vertex_lines part;
  const char* const end = text.data() + text.size();
  for (const char* p = text.data(); p != end;) {
    const char* const start = p;
    while (p != end && *p != separator && *p != '\n' && *p != '\r') ++p;
    const std::string_view word(start, static_cast<std::size_t>(p - start));
    const auto v = names.vertex_of(word);
    if (!v) fail_word(word, end, separator);
    part.vertices.push_back(*v);
    if (p != end && *p == separator) {
      if (++p == end) fail_expected(p, end, "an id of the graph");
      continue;
    }
    part.ends.push_back(part.vertices.size());
    const char* const behind = end_of_line(p, end);
    if (behind == nullptr) fail_expected(p, end, "the end of the line");
    p = behind;
  }
  return part;
}

}  // namespace

char separator_of(const std::string& path) {
  const auto name = without_compression(path);
  return name.ends_with(".csv") ? ',' : name.ends_with(".tsv") ? '\t' : ' ';
}

vertex_lines read_vertex_lines(task::pool& workers, const std::string& path, const labels& names) {
  constexpr std::size_t block_bytes = std::size_t{4} << 20;
  constexpr std::size_t max_line_bytes = std::size_t{1} << 30;  // a walk of 50 million steps
  text_source source(path, block_bytes);
  source.limit_lines(max_line_bytes);
  task::per_worker<std::map<std::uint64_t, vertex_lines>> found(workers.workers());
  const auto fault = source.for_each_block(workers, {}, [&](worker_t k, const text_block& block) {
    found[k].emplace(block.index, parse(block.text, separator_of(path), names));
  });
  if (fault) throw source.error(*fault);
  std::map<std::uint64_t, vertex_lines> parts;
  for (auto& of_worker : found) parts.merge(of_worker.value);
  vertex_lines all;
  for (const auto& [index, part] : parts) {
    const auto before = all.vertices.size();
    for (const auto e : part.ends) all.ends.push_back(before + e);
    all.vertices.insert(all.vertices.end(), part.vertices.begin(), part.vertices.end());
  }
  return all;
}

}  // namespace cairn::graph::io
