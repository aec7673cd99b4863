// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <cairn/graph/io/compressed.hpp>
#include <cairn/graph/io/mapped_file.hpp>
#include <cairn/hw/pages.hpp>

#include "native_header.hpp"

namespace cairn::graph::io {

/// The bytes of a .cairn file in memory, mapped or decompressed. The header is valid and matches
/// the size of the file; the contents of the sections are not checked.
class native_file {
 public:
  /// Maps the file, or decompresses only its header.
  /// Throws    input_error
  explicit native_file(const std::string& path);

  /// The memory that inflate() will take; 0 for a mapped file.
  [[nodiscard]] std::uint64_t bytes_to_inflate() const noexcept {
    return stream_ ? header_.file_bytes() : 0;
  }
  /// Decompresses the sections if bytes_to_inflate() is not 0. They are not accessible before.
  /// check     called again and again; what it throws ends the call
  /// Throws    input_error
  void inflate(const std::function<void()>& check);

  [[nodiscard]] const std::string& path() const noexcept { return file_.path(); }
  [[nodiscard]] const native_header& header() const noexcept { return header_; }
  [[nodiscard]] std::span<const std::byte> section(std::size_t i) const noexcept {
    return bytes_.subspan(header_.section(i).offset, header_.section(i).bytes);
  }
  template <class T>
  [[nodiscard]] std::span<const T> values(std::size_t i) const noexcept {
    const auto bytes = section(i);
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  /// The characters of text labels, which follow their offsets.
  [[nodiscard]] std::string_view label_texts() const noexcept {
    const auto bytes = section(labels_section).subspan((header_.num_vertices + 1) * 8);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  /// The offset of value i of a section in the (decompressed) file.
  template <class T>
  [[nodiscard]] std::uint64_t byte_of(std::size_t section, std::uint64_t i) const noexcept {
    return header_.sections[section].offset + i * sizeof(T);
  }

 private:
  mapped_file file_;
  std::unique_ptr<byte_source> stream_;
  hw::page_buffer<char> inflated_;
  std::span<const std::byte> bytes_;
  native_header header_;
};

}  // namespace cairn::graph::io
