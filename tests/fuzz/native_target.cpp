// SPDX-License-Identifier: Apache-2.0
//
// .cairn files. A change keeps the checksums right, so that it reaches what lies behind them.
#include <algorithm>
#include <cstring>
#include <graph/io/native_header.hpp>

#include <cairn/algo/stored_layout.hpp>
#include <cairn/base/error.hpp>
#include <cairn/base/random.hpp>
#include <cairn/graph/builder.hpp>
#include <cairn/graph/io/native.hpp>
#include <cairn/graph/load.hpp>

#include "fuzz.hpp"

namespace cairn::fuzz {
namespace {

using graph::io::native_header;

constexpr std::uint64_t max_file_bytes = 40 << 10;

template <class Id>
void walk(graph::dist_csr<Id>& g) {
  const auto n = g.num_vertices();
  double sum = 0;
  for (std::uint64_t v = 0; v < n; ++v) {
    const auto id = g.labels().text_of(v);
    if (g.labels().vertex_of(id) != v) fail("the id " + id + " leads to another vertex");
    for (const auto u : g.out().neighbors(v)) {
      if (u >= n) fail("an edge leads to no vertex");
    }
    if (g.out().template weighted_by<std::int32_t>()) {
      for (const auto& e : g.out().template edges_of<std::int32_t>(v)) sum += e.weight;
    }
    if (g.out().template weighted_by<double>()) {
      for (const auto& e : g.out().template edges_of<double>(v)) sum += e.weight;
    }
  }
  if (sum != sum) fail("a weight is not a number");
  auto& w = small_world();
  if (g.directed()) graph::build_inverse(w, g);
  static_cast<void>(algo::stored_layout(w, g));
}

std::uint64_t checksum_of(std::span<const std::byte> section) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i * graph::io::checksum_chunk < section.size(); ++i) {
    const auto chunk = section.subspan(i * graph::io::checksum_chunk);
    sum += graph::io::chunk_checksum(chunk.first(std::min(chunk.size(), graph::io::checksum_chunk)),
                                     i);
  }
  return sum;
}

void repair(bytes& file, native_header header) {
  const auto all = std::as_bytes(std::span<const std::uint8_t>(file));
  const auto sum = [&](graph::io::native_section& s) {
    const bool inside = s.offset <= all.size() && s.bytes <= all.size() - s.offset;
    if (inside) s.checksum = checksum_of(all.subspan(s.offset, s.bytes));
  };
  for (auto& s : header.sections) sum(s);
  if (header.has_attachment()) {
    sum(header.attachment);
    header.attachment_checksum = header.own_attachment_checksum();
  }
  header.magic = native_header::expected_magic;
  header.checksum = header.own_checksum();
  std::memcpy(file.data(), &header, sizeof header);
}

/// Changes `part` of the file, which keeps its size.
void change_part(bytes& file, std::size_t begin, std::size_t size, const mutator& change) {
  if (begin > file.size() || size == 0 || size > file.size() - begin) return;
  const auto at = file.begin() + static_cast<std::ptrdiff_t>(begin);
  bytes part(at, at + static_cast<std::ptrdiff_t>(size));
  change(part, size);
  std::copy(part.begin(), part.end(), at);
}

}  // namespace

void read_native(input contents) {
  const auto path = file_with("g.cairn", contents);
  auto& w = small_world();
  try {
    auto g = graph::io::read_native(w, path);
    std::visit([](auto& rows) { walk(rows); }, g);
    const graph::load_options by_degree{.order = graph::order_kind::degree};
    static_cast<void>(graph::load(w, path, by_degree));
  } catch (const input_error&) {
  }
}

void mutate_native(bytes& file, const mutator& change, std::uint64_t choice) {
  random64 draw(choice);
  if (file.size() < sizeof(native_header)) file.resize(graph::io::native_page);
  native_header header;
  std::memcpy(&header, file.data(), sizeof header);
  const auto part = draw.below(8);
  if (part < 5) {
    const auto& s = header.section(part);
    change_part(file, s.offset, s.bytes, change);
  } else if (part < 7) {
    bytes fields(sizeof header);
    std::memcpy(fields.data(), &header, sizeof header);
    change(fields, sizeof header);
    fields.resize(sizeof header);
    std::memcpy(&header, fields.data(), sizeof header);
    if (part == 6 && header.weights <= 2) {
      // The sections where the counts want them.
      header.num_vertices %= 500;
      header.num_entries %= 1000;
      header.place_sections(header.sections[graph::io::labels_section].bytes % 5000);
      header.attachment.bytes %= 5000;
      file.resize(std::min(header.file_bytes(), max_file_bytes));
    }
  } else {
    change(file, max_file_bytes);
    if (file.size() < sizeof header) file.resize(sizeof header);
  }
  repair(file, header);
}

}  // namespace cairn::fuzz
