// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>

#include <cairn/graph/io/file_format.hpp>
#include <cairn/graph/io/raw_edges.hpp>
#include <cairn/graph/io/weight_rule.hpp>
#include <cairn/graph/labels.hpp>

namespace cairn {
class world;
}

namespace cairn::graph::io {

/// The kind of ids in an edge list or CSV file.
///
/// number   integers below 2^64 - 1; anything else is rejected
/// text     words, see is_word; the first line of a CSV file that is not a comment is its header
enum class id_kind : std::uint8_t { number, text };

/// format       empty: determined by the name's ending, see format_of
/// block_bytes  of text that a worker parses at a time
/// progress     called repeatedly by worker 0 as progress(bytes done, all bytes) for this rank's
///              share; for a compressed file both count compressed bytes
/// ids          in edge lists and CSV files; other formats have numbers
/// weights      a line with another weight is a fault
/// vertices     if set, the file lists edges between vertices of a graph with these labels, of the
///              kind of its ids: a line with another id is a fault, the result has vertices, and a
///              file may have no edges
/// max_edges    with `vertices`, a file with more is rejected before they take memory
struct read_options {
  std::optional<file_format> format = {};
  std::size_t block_bytes = std::size_t{4} << 20;
  std::function<void(std::uint64_t, std::uint64_t)> progress = {};
  id_kind ids = id_kind::number;
  weight_rule weights = {};
  const labels* vertices = nullptr;
  std::uint64_t max_edges = std::numeric_limits<std::uint64_t>::max();
};

/// The edges of a text file (edge list, CSV, MatrixMarket, DIMACS, METIS), plain or compressed.
///
/// The file is split at line ends into blocks of about `block_bytes`. Rank r reads blocks r, r +
/// size, ..., which its workers parse in parallel. A plain file is mapped and each rank accesses
/// its own blocks only; a compressed one is decompressed as a stream by every rank.
///
/// Memory    8 bytes an edge (16 for 64-bit ids) and its weight, plus a few blocks. For text ids
///           also the distinct words on every rank, and temporarily those of all ranks separately.
/// Throws    usage_error for text ids in a format that has numbers; input_error, the same on every
///           rank: one sentence with file and line for the first fault of the file, whatever the
///           numbers of ranks and workers.
/// Collective.
[[nodiscard]] raw_edges read_edges(world& w, const std::string& path,
                                   const read_options& options = {});

}  // namespace cairn::graph::io
