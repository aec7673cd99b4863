// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <cairn/core/world.hpp>
#include <cairn/graph/io/native.hpp>
#include <cairn/graph/memory.hpp>

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

template <class Id>
any_graph view_of(const std::shared_ptr<const native_file>& file, rank_t rank,
                  const pgas::partition& partition) {
  const auto& header = file->header();
  const auto rows = static_cast<std::size_t>(partition.size(rank));
  const auto first = partition.first(rank);
  array<std::uint64_t> offsets(
      file->values<std::uint64_t>(offsets_section).subspan(first, rows + 1), file);
  weight_array weights;
  if (header.weights == 1) {
    weights = array<std::int32_t>(file->values<std::int32_t>(weights_section), file);
  } else if (header.weights == 2) {
    weights = array<double>(file->values<double>(weights_section), file);
  }
  csr<Id> out(first, std::move(offsets), array<Id>(file->values<Id>(targets_section), file),
              std::move(weights));
  dist_csr<Id> g(partition, header.directed == 1, header.num_edges, std::move(out),
                 labels_of(*file));
  if (header.has_attachment() && partition.ranks() == 1) {
    g.attach({header.attachment_name.data(), file->section(attachment_section), file});
  }
  return g;
}

}  // namespace

any_graph read_native(world& w, const std::string& path, partition_kind kind) {
  std::shared_ptr<native_file> file;
  w.agree([&] { file = std::make_shared<native_file>(path); });
  if (const auto bytes = file->bytes_to_inflate(); bytes != 0) {
    expect_memory_for(w, bytes, path + ": the graph");
    w.agree([&] { file->inflate(); });
  }
  verify_native(w, *file);
  const auto n = file->header().num_vertices;
  const auto offsets = file->values<std::uint64_t>(offsets_section);
  const auto partition = kind == partition_kind::vertices || w.size() == 1
                             ? pgas::partition(n, w.size())
                             : graph::detail::balanced_partition(
                                   n, w.size(), [&](std::uint64_t v) { return offsets[v]; });
  if (file->header().id_bytes == 4) return view_of<std::uint32_t>(file, w.rank(), partition);
  return view_of<std::uint64_t>(file, w.rank(), partition);
}

}  // namespace cairn::graph::io
