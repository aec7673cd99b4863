// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace cairn {

/// Every rank's bytes, by rank, in one piece of memory. It only moves: its spans refer to the
/// bytes.
class gathered_parts {
 public:
  /// `bytes` contains the parts of ranks first, first + 1, ... (mod size).
  gathered_parts(std::vector<std::byte> bytes, std::span<const std::uint64_t> lengths,
                 std::size_t first)
      : bytes_(std::move(bytes)), parts_(lengths.size()) {
    const std::span<const std::byte> all(bytes_);
    std::size_t at = 0;
    for (const auto length : lengths) {
      parts_[first] = all.subspan(at, length);
      at += length;
      if (++first == parts_.size()) first = 0;
    }
  }
  gathered_parts(gathered_parts&&) = default;

  [[nodiscard]] std::size_t size() const noexcept { return parts_.size(); }
  [[nodiscard]] std::span<const std::byte> operator[](std::size_t rank) const {
    return parts_[rank];
  }
  [[nodiscard]] auto begin() const noexcept { return parts_.begin(); }
  [[nodiscard]] auto end() const noexcept { return parts_.end(); }

 private:
  std::vector<std::byte> bytes_;
  std::vector<std::span<const std::byte>> parts_;
};

}  // namespace cairn
