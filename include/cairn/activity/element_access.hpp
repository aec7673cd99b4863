// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <cairn/base/contract.hpp>
#include <cairn/tm/cell.hpp>

namespace cairn::activity {

/// How a multi-cell attempt accesses data: by map and global id, so that an element may be a copy
/// of a remote one. Values are copied word by word; each word is a relaxed atomic access.
///
/// Access    of the current mechanism (tm/cell.hpp, tm/emulated_section.hpp)
template <class Access>
class element_access {
 public:
  explicit element_access(Access access) : access_(access) {}

  template <class Map, class T = typename Map::value_type>
  [[nodiscard]] T read(const Map& map, std::uint64_t id) const {
    using word = word_of<T>;
    std::array<word, sizeof(T) / sizeof(word)> words;
    auto* const at = words_at<T>(map, id);
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = access_.load(at[i]);
    T value;
    std::memcpy(static_cast<void*>(&value), words.data(), sizeof value);
    return value;
  }

  template <class Map, class T = typename Map::value_type>
  void write(const Map& map, std::uint64_t id, const T& value) {
    using word = word_of<T>;
    std::array<word, sizeof(T) / sizeof(word)> words;
    std::memcpy(words.data(), &value, sizeof value);
    auto* const at = words_at<T>(map, id);
    for (std::size_t i = 0; i < words.size(); ++i) access_.store(at[i], words[i]);
    has_written_ = true;
  }

  /// Whether this attempt has written. An attempt that reports failure must not write.
  [[nodiscard]] bool has_written() const noexcept { return has_written_; }

 private:
  // The widest word that T's alignment allows; elements may alias their words.
  template <class T>
  using word_of [[gnu::may_alias]] =
      std::conditional_t<alignof(T) % 8 == 0, std::uint64_t,
                         std::conditional_t<alignof(T) % 4 == 0, std::uint32_t, std::uint8_t>>;

  template <class T, class Map>
  static word_of<T>* words_at(const Map& map, std::uint64_t id) {
    return reinterpret_cast<word_of<T>*>(&map.at(id).element());
  }

  Access access_;
  bool has_written_ = false;
};

}  // namespace cairn::activity
