// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <cairn/graph/io/mapped_file.hpp>

namespace cairn::graph::io {

enum class compression : std::uint8_t { none, gzip, zstd, xz };

/// By the name's ending: .gz, .zst, .xz, else none.
[[nodiscard]] compression compression_by_name(std::string_view path) noexcept;

/// By the file's first bytes.
///
/// Throws    input_error if the name says a compression and the bytes another or none.
[[nodiscard]] compression compression_of(const mapped_file& file);

/// The bytes of a file behind its compression, in order.
class byte_source {
 public:
  virtual ~byte_source() = default;

  /// Fills `out` and returns how many bytes it wrote: fewer than asked only at the end.
  /// Throws    input_error with the compressed offset if the data is truncated or corrupt.
  virtual std::size_t read(std::span<char> out) = 0;

  /// Bytes of the file used up so far.
  [[nodiscard]] virtual std::uint64_t consumed() const noexcept = 0;
};

/// Reads `file`, which outlives the source, from its start. Several gzip members, zstd frames or
/// xz streams in a row count as one. At most 128 MiB for the decompressor's own window.
[[nodiscard]] std::unique_ptr<byte_source> decompress(const mapped_file& file);

/// An output_file being written, compressed as its name's ending says.
class byte_sink {
 public:
  /// Leaves the file as it was unless the new one was finished.
  virtual ~byte_sink() = default;

  /// Throws    system_failure if the file cannot be written.
  virtual void write(std::string_view bytes) = 0;
  /// Ends the compressed stream and the file. Throws as write does.
  virtual void finish() = 0;
};

/// Throws    usage_error if the file cannot be written.
[[nodiscard]] std::unique_ptr<byte_sink> create_file(const std::string& path);

}  // namespace cairn::graph::io
