// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <cairn/graph/io/file_format.hpp>
#include <cairn/graph/io/raw_edges.hpp>

namespace cairn {
class world;
}

namespace cairn::graph::io {

/// What an edge list's or CSV file's ids are.
///
/// number   whole numbers below 2^64 - 1; anything else is refused
/// text     words, see is_word; the first line of a CSV file that is no comment is its header
enum class id_kind : std::uint8_t { number, text };

/// format       nothing: by the name's ending, see format_of
/// block_bytes  of text handed to a worker at a time
/// progress     called now and then by worker 0 as progress(bytes done, bytes in all) of this
///              rank's share; for a compressed file both count compressed bytes
/// ids          of edge lists and CSV files; other formats have numbers
struct read_options {
  std::optional<file_format> format = {};
  std::size_t block_bytes = std::size_t{4} << 20;
  std::function<void(std::uint64_t, std::uint64_t)> progress = {};
  id_kind ids = id_kind::number;
};

/// The edges of a text file (edge list, CSV, MatrixMarket, DIMACS, METIS), plain or compressed.
///
/// The file is cut at line ends into blocks of about `block_bytes`; rank r holds blocks r,
/// r + size, ..., which its workers parse in parallel. A plain file is mapped and each rank
/// touches its own blocks only; a compressed one is decompressed as a stream by every rank.
///
/// Memory    8 bytes an edge (16 where ids need 64 bits) and its weight, plus a few blocks
/// Text ids are agreed on by all ranks: memory for all different words, and meanwhile for every
/// rank's, is on each of them.
///
/// Throws    usage_error for text ids of a format that has numbers;
///           input_error, the same on every rank: one sentence with file and line, for the
///           first fault of the file whatever the number of ranks and workers.
/// Collective.
[[nodiscard]] raw_edges read_edges(world& w, const std::string& path,
                                   const read_options& options = {});

}  // namespace cairn::graph::io
