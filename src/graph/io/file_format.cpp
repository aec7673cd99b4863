// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <utility>

#include <cairn/base/error.hpp>
#include <cairn/graph/io/file_format.hpp>

namespace cairn::graph::io {
namespace {

constexpr std::array<std::pair<std::string_view, file_format>, 10> endings{{
    {".txt", file_format::edge_list},
    {".el", file_format::edge_list},
    {".wel", file_format::weighted_edge_list},
    {".csv", file_format::csv},
    {".mtx", file_format::matrix_market},
    {".gr", file_format::dimacs},
    {".max", file_format::dimacs},
    {".col", file_format::dimacs},
    {".graph", file_format::metis},
    {".cairn", file_format::native},
}};

}  // namespace

std::string_view without_compression(std::string_view path) noexcept {
  for (const std::string_view ending : {".gz", ".zst", ".xz"}) {
    if (path.ends_with(ending)) return path.substr(0, path.size() - ending.size());
  }
  return path;
}

file_format format_of(const std::string& path) {
  const auto inner = without_compression(path);
  for (const auto& [ending, format] : endings) {
    if (inner.ends_with(ending)) return format;
  }
  throw input_error::in_file(
      path,
      "the name must end in .txt, .el, .wel, .csv, .mtx, .gr, .max, .col, .graph or .cairn (then "
      ".gz, .zst or .xz if compressed)");
}

}  // namespace cairn::graph::io
