// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <cairn/base/error.hpp>
#include <cairn/graph/io/compressed.hpp>
#include <cairn/graph/io/edge_list.hpp>
#include <cairn/graph/io/file_format.hpp>
#include <cairn/task/parallel_for.hpp>

#include "declared_ids.hpp"
#include "entry_lines.hpp"
#include "put_weight.hpp"
#include "rows.hpp"

namespace cairn::graph::io {

namespace {

constexpr std::size_t bytes_at_once = std::size_t{64} << 10;

bool is_csv(const std::string& path) { return without_compression(path).ends_with(".csv"); }
bool is_wel(const std::string& path) { return without_compression(path).ends_with(".wel"); }
bool holds_weights(const std::string& path) { return is_csv(path) || is_wel(path); }

std::unique_ptr<byte_sink> create_edge_list(const std::string& path, bool weights,
                                            const write_check& check) {
  auto file = create_file(path, check);
  if (is_csv(path)) file->write(weights ? "source,target,weight\n" : "source,target\n");
  return file;
}

}  // namespace

void expect_edge_list_holds(const std::string& path, bool weights) {
  const auto inner = without_compression(path);
  if (!holds_weights(path) && !inner.ends_with(".el") && !inner.ends_with(".txt")) {
    throw usage_error(
        path + ": an edge list's name ends in .el, .txt, .wel or .csv, also .gz, .zst or .xz");
  }
  if (is_wel(path) && !weights) {
    throw usage_error(path + ": a .wel file has weights, but the graph has none");
  }
}

void write_edge_list(task::pool& workers, const std::string& path, const native_graph& g,
                     undirected_edges edges) {
  expect_edge_list_holds(path, g.weights.index() != 0);
  if (g.offsets.back() == 0) {
    throw usage_error(path + ": an edge list holds only edges, but this graph has none");
  }
  const bool once = !g.directed && edges == undirected_edges::once;
  const bool weights = g.weights.index() != 0 && holds_weights(path);
  const auto file = create_edge_list(path, weights, check_of(workers));
  write_entry_lines(workers, *file, g,
                    {.which = once ? sides::upper : sides::both,
                     .separator = is_csv(path) ? ',' : ' ',
                     .weights = weights});
  file->finish();
}

edge_list_writer::edge_list_writer(const std::string& path, const labels& names,
                                   weight_kind weights, const write_check& check)
    : names_(names),
      weights_(holds_weights(path) ? weights : weight_kind::none),
      separator_(is_csv(path) ? ',' : ' ') {
  expect_edge_list_holds(path, weights != weight_kind::none);
  file_ = create_edge_list(path, weights_ != weight_kind::none, check);
}

void edge_list_writer::put_id(std::uint64_t position) {
  if (names_.textual()) {
    text_ += names_.words()[position];
  } else {
    text_ += std::to_string(names_.id_at(position));
  }
}

void edge_list_writer::append(std::uint64_t source, std::uint64_t target, double weight) {
  put_id(source);
  text_ += separator_;
  put_id(target);
  if (weights_ != weight_kind::none) {
    std::array<char, max_weight_bytes> number;
    const bool whole = weights_ == weight_kind::integer;
    const char* const end = whole ? put_weight(number.data(), static_cast<std::int32_t>(weight))
                                  : put_weight(number.data(), weight);
    text_ += separator_;
    text_.append(number.data(), static_cast<std::size_t>(end - number.data()));
  }
  text_ += '\n';
  if (text_.size() >= bytes_at_once) flush();
}

void edge_list_writer::flush() {
  file_->write(text_);
  text_.clear();
}

void edge_list_writer::finish() {
  flush();
  file_->finish();
}

std::uint64_t num_isolated(task::pool& workers, const native_graph& g) {
  std::vector<std::uint8_t> touched(g.num_vertices());
  const auto touch = [&](std::uint64_t v) {
    std::atomic_ref(touched[v]).store(1, std::memory_order_relaxed);
  };
  const auto num_entries = static_cast<std::size_t>(g.offsets.back());
  std::visit(
      [&](auto targets) {
        task::parallel_for(workers, {.elements = num_entries, .chunk = entries_per_piece},
                           [&](worker_t, std::size_t begin, std::size_t end) {
                             for_entries(g, begin, end, [&](std::uint64_t row, std::uint64_t i) {
                               touch(row);
                               touch(targets[i]);
                             });
                           });
      },
      g.targets);
  return static_cast<std::uint64_t>(std::count(touched.begin(), touched.end(), 0));
}

void write_matrix_market(task::pool& workers, const std::string& path, const native_graph& g) {
  if (!without_compression(path).ends_with(".mtx")) {
    throw usage_error(path + ": a MatrixMarket file's name ends in .mtx");
  }
  const auto ordered = by_declared_ids(workers, path, g, "a MatrixMarket file");
  constexpr std::array<const char*, 3> fields{"pattern", "integer", "real"};
  const auto n = std::to_string(g.num_vertices());
  const auto file = create_file(path, check_of(workers));
  file->write(std::string("%%MatrixMarket matrix coordinate ") + fields[g.weights.index()] +
              (g.directed ? " general\n" : " symmetric\n") + n + " " + n + " " +
              std::to_string(g.num_edges) + "\n");
  write_entry_lines(workers, *file, ordered.g, {.which = g.directed ? sides::both : sides::lower});
  file->finish();
}

}  // namespace cairn::graph::io
