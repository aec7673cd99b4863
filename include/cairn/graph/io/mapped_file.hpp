// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace cairn::graph::io {

/// The bytes of a file, mapped read-only. Move-only.
///
/// At least 64 zero bytes are readable after the last byte, so that a text scanner can look ahead
/// without checking for the end of the file.
class mapped_file {
 public:
  static constexpr std::size_t readable_behind = 64;

  /// Throws    input_error if `path` cannot be opened, is not a regular file or is empty.
  explicit mapped_file(std::string path);
  ~mapped_file();
  mapped_file(mapped_file&& other) noexcept
      : path_(std::move(other.path_)),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  mapped_file& operator=(mapped_file&&) = delete;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const char* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::string_view text() const noexcept { return {data_, size_}; }

 private:
  std::string path_;
  char* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace cairn::graph::io
