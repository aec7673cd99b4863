// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include <cairn/base/error.hpp>

namespace cairn::graph::io {

/// A file of lines "key = value", as Java's properties. Lines that are blank or begin with # or !
/// are ignored.
///
/// Errors are input_error with file and line, or the file and the missing key.
class properties {
 public:
  /// Throws    input_error if the file cannot be read, a line is no property, or a key occurs twice
  explicit properties(const std::string& path);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] bool contains(std::string_view key) const { return properties_.contains(key); }

  /// The value of a key. Throws input_error if it is missing, or not of this type.
  [[nodiscard]] const std::string& text(std::string_view key) const;
  [[nodiscard]] std::uint64_t integer(std::string_view key) const;
  [[nodiscard]] double real(std::string_view key) const;
  [[nodiscard]] bool boolean(std::string_view key) const;

  /// "FILE:LINE: KEY: expected EXPECTED, found 'VALUE'", for a key that exists.
  [[nodiscard]] input_error unexpected(std::string_view key, const std::string& expected) const;

 private:
  struct property {
    std::string value;
    std::uint64_t line;
  };

  std::string path_;
  std::map<std::string, property, std::less<>> properties_;
};

}  // namespace cairn::graph::io
