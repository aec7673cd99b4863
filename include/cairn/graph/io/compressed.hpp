// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <cairn/graph/io/mapped_file.hpp>
#include <cairn/graph/io/output_file.hpp>

namespace cairn::graph::io {

enum class compression : std::uint8_t { none, gzip, zstd, xz };

/// The compression that the name's ending indicates: .gz, .zst, .xz, else none.
[[nodiscard]] compression compression_by_name(std::string_view path) noexcept;

/// The compression that the file's first bytes indicate.
///
/// Throws    input_error if the name indicates a compression and the bytes another or none.
[[nodiscard]] compression compression_of(const mapped_file& file);

/// The decompressed bytes of a file, in order.
class byte_source {
 public:
  virtual ~byte_source() = default;

  /// Fills `out` and returns the number of bytes written, smaller than out.size() only at the end.
  /// Throws    input_error with the compressed offset if the data is truncated or corrupt.
  virtual std::size_t read(std::span<char> out) = 0;

  /// Bytes of the file consumed so far.
  [[nodiscard]] virtual std::uint64_t consumed() const noexcept = 0;
};

/// Reads `file`, which must outlive the source, from its start. Concatenated gzip members, zstd
/// frames or xz streams are read as one. The decompressor's window takes at most 128 MiB.
[[nodiscard]] std::unique_ptr<byte_source> decompress(const mapped_file& file);

/// Writes an output_file, compressed according to its name's ending.
class byte_sink {
 public:
  /// Keeps the old file unless finish() succeeded.
  virtual ~byte_sink() = default;

  /// Throws    system_failure if the file cannot be written.
  virtual void write(std::string_view bytes) = 0;
  /// Ends the compressed stream and the file. Throws as write does.
  virtual void finish() = 0;
};

/// check     see output_file
/// Throws    usage_error if the file cannot be written.
[[nodiscard]] std::unique_ptr<byte_sink> create_file(const std::string& path,
                                                     const write_check& check = {});

}  // namespace cairn::graph::io
