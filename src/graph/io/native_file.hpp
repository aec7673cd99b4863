// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <cairn/graph/io/mapped_file.hpp>

#include "native_header.hpp"

namespace cairn::graph::io {

/// The bytes of a .cairn file in memory, mapped or decompressed. The header makes sense and
/// describes as many bytes as there are; the sections' contents are not looked at.
class native_file {
 public:
  /// Throws    input_error
  explicit native_file(const std::string& path);

  [[nodiscard]] const std::string& path() const noexcept { return file_.path(); }
  [[nodiscard]] const native_header& header() const noexcept { return header_; }
  [[nodiscard]] std::span<const std::byte> section(std::size_t i) const noexcept {
    return bytes_.subspan(header_.sections[i].offset, header_.sections[i].bytes);
  }
  template <class T>
  [[nodiscard]] std::span<const T> values(std::size_t i) const noexcept {
    const auto bytes = section(i);
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  /// Where value i of a section lies in the (decompressed) file.
  template <class T>
  [[nodiscard]] std::uint64_t byte_of(std::size_t section, std::uint64_t i) const noexcept {
    return header_.sections[section].offset + i * sizeof(T);
  }

 private:
  void inflate();

  mapped_file file_;
  std::vector<char> inflated_;
  std::span<const std::byte> bytes_;
  native_header header_;
};

}  // namespace cairn::graph::io
