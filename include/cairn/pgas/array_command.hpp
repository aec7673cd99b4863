// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <cairn/pgas/allocation.hpp>
#include <cairn/pgas/atomic_access.hpp>

namespace cairn::pgas {

/// The target of an array command: an array, an offset in the owner's part, and the kind of access.
/// 12 bytes, because most commands carry 8 bytes of data or none.
///
/// Offset    below 2^42: in elements; in bytes for ranges and elements of more than 16 bytes
class array_command {
 public:
  static constexpr std::uint64_t max_offset = std::uint64_t{1} << 42;

  array_command() = default;
  array_command(const array_id& id, std::uint64_t offset, access operation,
                number_kind kind = number_kind::unsigned_integer) noexcept
      : words_{static_cast<std::uint32_t>(id.creator) | static_cast<std::uint32_t>(id.slot) << 16,
               static_cast<std::uint32_t>(id.generation) |
                   static_cast<std::uint32_t>(offset >> 32) << 16 |
                   static_cast<std::uint32_t>(operation) << 26 |
                   static_cast<std::uint32_t>(kind) << 30,
               static_cast<std::uint32_t>(offset)} {}

  [[nodiscard]] array_id id() const noexcept {
    return {static_cast<std::uint16_t>(words_[0]), static_cast<std::uint16_t>(words_[0] >> 16),
            static_cast<std::uint16_t>(words_[1])};
  }
  [[nodiscard]] std::uint64_t offset() const noexcept {
    return static_cast<std::uint64_t>(words_[1] >> 16 & 0x3ff) << 32 | words_[2];
  }
  [[nodiscard]] access operation() const noexcept {
    return static_cast<access>(words_[1] >> 26 & 15);
  }
  [[nodiscard]] number_kind kind() const noexcept {
    return static_cast<number_kind>(words_[1] >> 30);
  }
  /// Whether both name the same array; cheaper than id().
  [[nodiscard]] bool same_array(const array_command& other) const noexcept {
    return words_[0] == other.words_[0] && ((words_[1] ^ other.words_[1]) & 0xffff) == 0;
  }
  friend bool operator==(const array_command&, const array_command&) = default;

 private:
  std::array<std::uint32_t, 3> words_{};
};

/// N bytes of elements, aligned to 4 so that commands need no padding.
template <std::size_t N>
class element_bytes {
 public:
  [[nodiscard]] void* data() noexcept { return words_.data(); }
  [[nodiscard]] const void* data() const noexcept { return words_.data(); }
  [[nodiscard]] std::uint64_t word() const noexcept {
    std::uint64_t x;
    std::memcpy(&x, words_.data(), sizeof x);
    return x;
  }
  void set_word(std::uint64_t x) noexcept { std::memcpy(words_.data(), &x, sizeof x); }

 private:
  std::array<std::uint32_t, N / 4> words_;
};

/// Bytes of the largest pieces in which longer elements and ranges travel.
inline constexpr std::size_t piece_bytes = 64;
[[nodiscard]] constexpr std::size_t num_pieces(std::size_t bytes) noexcept {
  return (bytes + piece_bytes - 1) / piece_bytes;
}

struct get_command {
  array_command command;
};
struct get_piece_command {
  array_command command;
  std::uint32_t bytes;
};
template <std::size_t N>
struct put_command {
  array_command command;
  element_bytes<N> value;
};
struct put_piece_command {
  array_command command;
  std::uint32_t bytes;
  element_bytes<piece_bytes> value;
};
struct change_command {
  array_command command;
  element_bytes<8> x, expected;
};
struct put_done {};

}  // namespace cairn::pgas
