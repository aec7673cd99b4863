// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <cairn/core/world.hpp>
#include <cairn/graph/io/native.hpp>
#include <cairn/graph/memory.hpp>
#include <cairn/hw/pages.hpp>

#include "../balanced_partition.hpp"
#include "native_file.hpp"
#include "verify_native.hpp"

namespace cairn::graph::io {
namespace {

labels labels_of(const native_file& file) {
  const auto& header = file.header();
  const auto numbers = file.values<std::uint64_t>(labels_section);
  switch (header.label_version()) {
    case 1:
      if (numbers.empty()) return labels(header.num_vertices);
      return labels(std::vector<std::uint64_t>(numbers.begin(), numbers.end()));
    case 2:
      return labels::by_vertex(std::vector<std::uint64_t>(numbers.begin(), numbers.end()));
    default:
      break;
  }
  const auto texts = file.label_texts();
  word_list words;
  words.reserve(header.num_vertices, texts.size());
  for (std::uint64_t v = 0; v < header.num_vertices; ++v) {
    words.push_back(texts.substr(numbers[v], numbers[v + 1] - numbers[v]));
  }
  return labels::by_vertex(words);
}

// The entries [begin, end) with their weights.
template <class Id, class W>
array<weighted_edge<Id, W>> weighted_entries(world& w, const native_file& file, std::uint64_t begin,
                                             std::uint64_t end) {
  hw::page_buffer<weighted_edge<Id, W>> edges;
  w.agree([&] { edges = hw::page_buffer<weighted_edge<Id, W>>(end - begin); });
  constexpr std::size_t chunk = 1 << 16;
  w.parallel_for(
      end - begin,
      [begin, to = edges.data(), targets = file.values<Id>(targets_section),
       weights = file.values<W>(weights_section)](worker_t, std::size_t i, std::size_t last) {
        for (; i < last; ++i) to[i] = {targets[begin + i], weights[begin + i]};
      },
      chunk);
  return array<weighted_edge<Id, W>>(std::move(edges));
}

template <class Id>
weighted_edges<Id> weighted_entries(world& w, const native_file& file,
                                    std::span<const std::uint64_t> offsets) {
  const auto kind = file.header().weights;
  const auto begin = offsets.front(), end = offsets.back();
  const auto bytes =
      kind == 1 ? sizeof(weighted_edge<Id, std::int32_t>) : sizeof(weighted_edge<Id, double>);
  const auto ranks = static_cast<std::uint64_t>(w.size());
  expect_memory_for(w, file.header().num_entries / ranks * bytes,
                    file.path() + ": the edges with weights");
  if (kind == 1) return weighted_entries<Id, std::int32_t>(w, file, begin, end);
  return weighted_entries<Id, double>(w, file, begin, end);
}

template <class Id>
any_graph view_of(world& w, const std::shared_ptr<const native_file>& file,
                  const pgas::partition& partition, bool with_weights) {
  const auto& header = file->header();
  const auto rows = static_cast<std::size_t>(partition.size(w.rank()));
  const auto first = partition.first(w.rank());
  array<std::uint64_t> offsets(
      file->values<std::uint64_t>(offsets_section).subspan(first, rows + 1), file);
  weighted_edges<Id> edges;
  if (with_weights && header.weights != 0) {
    edges = weighted_entries<Id>(w, *file, offsets.span());
  }
  csr<Id> out(first, std::move(offsets), array<Id>(file->values<Id>(targets_section), file),
              std::move(edges));
  dist_csr<Id> g(partition, header.directed == 1, header.num_edges, std::move(out),
                 labels_of(*file));
  if (header.has_attachment() && partition.ranks() == 1) {
    g.attach({header.attachment_name.data(), file->section(attachment_section), file});
  }
  return g;
}

}  // namespace

any_graph read_native(world& w, const std::string& path, partition_kind kind, bool with_weights) {
  std::shared_ptr<native_file> file;
  w.agree([&] { file = std::make_shared<native_file>(path); });
  if (const auto bytes = file->bytes_to_inflate(); bytes != 0) {
    expect_memory_for(w, bytes, path + ": the graph");
    w.agree([&] { file->inflate([&] { w.throw_if_interrupted(); }); });
  }
  verify_native(w, *file);
  const auto n = file->header().num_vertices;
  const auto offsets = file->values<std::uint64_t>(offsets_section);
  const auto partition = kind == partition_kind::vertices || w.size() == 1
                             ? pgas::partition(n, w.size())
                             : graph::detail::balanced_partition(
                                   n, w.size(), [&](std::uint64_t v) { return offsets[v]; });
  if (file->header().id_bytes == 4) return view_of<std::uint32_t>(w, file, partition, with_weights);
  return view_of<std::uint64_t>(w, file, partition, with_weights);
}

}  // namespace cairn::graph::io
