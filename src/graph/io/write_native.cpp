// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <cairn/base/contract.hpp>
#include <cairn/graph/io/compressed.hpp>
#include <cairn/graph/io/native.hpp>
#include <cairn/hw/pages.hpp>
#include <cairn/task/parallel_for.hpp>

#include "entry_lines.hpp"
#include "native_header.hpp"

namespace cairn::graph::io {
namespace {

using byte_span = std::span<const std::byte>;

constexpr std::size_t max_at_once = 1 << 18;  // bytes that compress in milliseconds

std::uint64_t checksum_of(task::pool& workers, byte_span bytes) {
  std::atomic<std::uint64_t> sum{0};
  const auto chunks = (bytes.size() + checksum_chunk - 1) / checksum_chunk;
  task::parallel_for(
      workers, {.elements = chunks, .chunk = 1}, [&](worker_t, std::size_t begin, std::size_t end) {
        for (auto i = begin; i < end; ++i) {
          const auto from = bytes.subspan(i * checksum_chunk);
          const auto hash = chunk_checksum(from.first(std::min(from.size(), checksum_chunk)), i);
          sum.fetch_add(hash, std::memory_order_relaxed);
        }
      });
  return sum.load();
}

byte_span weight_bytes(const native_graph& g) {
  if (const auto* whole = std::get_if<1>(&g.weights)) return std::as_bytes(*whole);
  if (const auto* real = std::get_if<2>(&g.weights)) return std::as_bytes(*real);
  return {};
}

/// The labels section.
struct label_bytes {
  std::uint32_t version = 1;
  std::vector<std::byte> texts;  // of version 3
  byte_span bytes;
};

label_bytes labels_of(const native_graph& g) {
  label_bytes found;
  if (g.words == nullptr) {
    const bool ascend = std::is_sorted(g.labels.begin(), g.labels.end());
    found.version = ascend ? 1 : 2;
    found.bytes = std::as_bytes(g.labels);
    return found;
  }
  found.version = 3;
  std::vector<std::uint64_t> offsets{0};
  for (std::uint64_t v = 0; v < g.num_vertices(); ++v) {
    offsets.push_back(offsets.back() + (*g.words)[g.label_of(v)].size());
  }
  found.texts.resize(offsets.size() * sizeof(std::uint64_t) + offsets.back());
  auto* at = reinterpret_cast<char*>(found.texts.data());
  at = std::copy_n(reinterpret_cast<const char*>(offsets.data()), offsets.size() * 8, at);
  for (std::uint64_t v = 0; v < g.num_vertices(); ++v) {
    const auto word = (*g.words)[g.label_of(v)];
    at = std::copy(word.begin(), word.end(), at);
  }
  found.bytes = found.texts;
  return found;
}

// Sets all fields of the attachment except its offset.
void take_attachment(task::pool& workers, const attachment& from, native_header& to) {
  CAIRN_EXPECTS(!from.name.empty() && from.name.size() < to.attachment_name.size());
  CAIRN_EXPECTS(!from.bytes.empty());
  to.version += 3;
  std::copy(from.name.begin(), from.name.end(), to.attachment_name.begin());
  to.attachment.bytes = from.bytes.size();
  to.attachment.checksum = checksum_of(workers, from.bytes);
}

std::string_view text_of(byte_span bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

template <class Id, class W>
void put_weights(std::span<const weighted_edge<Id, W>> edges, native_graph& to) {
  auto weights = std::make_shared<hw::page_buffer<W>>(edges.size());
  std::ranges::transform(edges, weights->begin(), &weighted_edge<Id, W>::weight);
  to.weights = std::as_const(*weights).span();
  to.kept.push_back(std::move(weights));
}

}  // namespace

template <class Id>
native_graph native_view(const dist_csr<Id>& g) {
  CAIRN_EXPECTS(g.partition().ranks() == 1, "only a graph on one rank has whole arrays");
  const auto entries = static_cast<std::size_t>(g.out().num_edges());
  native_graph view;
  view.directed = g.directed();
  view.num_edges = g.num_edges();
  view.offsets = g.out().offsets();
  view.targets = g.out().targets().first(entries);
  if (g.out().template weighted_by<std::int32_t>()) {
    put_weights(g.out().template edges<std::int32_t>(), view);
  }
  if (g.out().template weighted_by<double>()) put_weights(g.out().template edges<double>(), view);
  const auto& names = g.labels();
  if (names.textual()) view.words = &names.words();
  if (!names.identity()) {
    auto ids = std::make_shared<std::vector<std::uint64_t>>();
    ids->reserve(names.size());
    for (std::uint64_t v = 0; v < names.size(); ++v) ids->push_back(names.id_of(v));
    view.labels = *ids;
    view.kept.push_back(std::move(ids));
  }
  return view;
}

template native_graph native_view(const dist_csr<std::uint32_t>&);
template native_graph native_view(const dist_csr<std::uint64_t>&);

void write_native(task::pool& workers, const std::string& path, const native_graph& g) {
  const auto targets =
      std::visit([](auto list) { return byte_span(std::as_bytes(list)); }, g.targets);
  const auto names = labels_of(g);
  native_header header;
  header.version = names.version;
  header.directed = g.directed ? 1 : 0;
  header.id_bytes = g.targets.index() == 0 ? 4 : 8;
  header.weights = static_cast<std::uint32_t>(g.weights.index());
  header.num_vertices = g.num_vertices();
  header.num_entries = targets.size() / header.id_bytes;
  header.num_edges = g.num_edges;
  CAIRN_EXPECTS(g.offsets.front() == 0 && g.offsets.back() == header.num_entries);
  CAIRN_EXPECTS(g.labels.empty() || g.labels.size() == header.num_vertices);
  if (g.attached) take_attachment(workers, *g.attached, header);
  header.place_sections(names.bytes.size());
  const std::array<byte_span, 5> sections{std::as_bytes(g.offsets), targets, weight_bytes(g),
                                          names.bytes,
                                          g.attached ? g.attached->bytes : byte_span()};
  for (std::size_t i = 0; i < header.sections.size(); ++i) {
    CAIRN_EXPECTS(sections[i].size() == header.sections[i].bytes);
    header.sections[i].checksum = checksum_of(workers, sections[i]);
  }
  header.checksum = header.own_checksum();
  if (g.attached) header.attachment_checksum = header.own_attachment_checksum();

  const auto file = create_file(path, check_of(workers));
  const std::vector<char> zeros(native_page, '\0');
  std::uint64_t at = 0;
  const auto put = [&](byte_span bytes, std::uint64_t offset) {
    file->write({zeros.data(), static_cast<std::size_t>(offset - at)});
    for (auto rest = text_of(bytes); !rest.empty();) {
      file->write(rest.substr(0, max_at_once));
      rest.remove_prefix(std::min(rest.size(), max_at_once));
    }
    at = offset + bytes.size();
  };
  put(std::as_bytes(std::span(&header, 1)), 0);
  for (std::size_t i = 0; i < sections.size(); ++i) {
    if (!sections[i].empty()) put(sections[i], header.section(i).offset);
  }
  if (at < native_page) put({}, native_page);
  file->finish();
}

}  // namespace cairn::graph::io
