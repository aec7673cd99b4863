// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <cairn/base/contract.hpp>
#include <cairn/dtx/acquisition.hpp>

namespace cairn::dtx {

/// Throws    contract_violation if the map is none of `maps`, the maps of a transaction
[[nodiscard]] std::uint32_t number_of_map(std::span<const void* const> maps, const void* map);
/// Throws    contract_violation also if `id` is beyond the end of its map
template <class Map>
[[nodiscard]] element element_of(std::span<const void* const> maps, const Map& map,
                                 std::uint64_t id) {
  CAIRN_EXPECTS(id < map.size(), "the element id must be less than the size of its map");
  return {number_of_map(maps, &map), id};
}

/// Thrown through a body that accesses an element that is not held yet. Not derived from
/// std::exception. The body runs again, also if it catches this.
struct missing_element {};

/// Two copies of each element of a transaction: the owner's value, and the value that the body
/// wrote.
class copies {
 public:
  /// bytes     size of the largest element
  explicit copies(std::size_t bytes) : stride_((bytes + 15) / 16 * 16) {}

  void resize(std::size_t elements) {
    bytes_.resize(2 * stride_ * elements);
    changed_.resize(elements);
  }
  /// The value received from the owner.
  [[nodiscard]] std::byte* received(std::size_t i) noexcept { return &bytes_[2 * stride_ * i]; }
  /// The value that the body has written.
  [[nodiscard]] std::byte* written(std::size_t i) noexcept { return received(i) + stride_; }
  [[nodiscard]] bool changed(std::size_t i) const noexcept { return changed_[i] != 0; }
  void mark_changed(std::size_t i) noexcept { changed_[i] = 1; }
  void clear_changes() noexcept { changed_.assign(changed_.size(), 0); }

 private:
  std::size_t stride_;
  std::vector<std::byte> bytes_;
  std::vector<char> changed_;
};

/// Access of a distributed transaction's body to the copies of the elements that it holds.
///
/// Throws    contract_violation for an element of none of the transaction's maps, beyond the end of
///           its map, or not named after allow_only()
class transaction {
 public:
  transaction(acquisition& held, copies& data, std::span<const void* const> maps)
      : held_(held), copies_(data), maps_(maps) {
    copies_.clear_changes();
  }

  template <class Map, class T = typename Map::value_type>
  [[nodiscard]] T read(const Map& map, std::uint64_t id) {
    const auto i = number_of(map, id);
    T value;
    std::memcpy(static_cast<void*>(&value),
                copies_.changed(i) ? copies_.written(i) : copies_.received(i), sizeof value);
    return value;
  }

  template <class Map, class T = typename Map::value_type>
  void write(const Map& map, std::uint64_t id, const T& value) {
    const auto i = number_of(map, id);
    std::memcpy(copies_.written(i), &value, sizeof value);
    copies_.mark_changed(i);
    has_written_ = true;
  }

  /// Index of an element that is held. Otherwise adds it to the elements to claim and throws
  /// missing_element.
  template <class Map>
  std::size_t number_of(const Map& map, std::uint64_t id) {
    return number_of(element_of(maps_, map, id));
  }

  /// Restricts access to these elements, given by index. Accessing any other is a contract
  /// violation.
  void allow_only(std::span<const std::size_t> named) noexcept {
    named_ = named;
    named_only_ = true;
    has_written_ = false;
  }
  /// Lifts the restriction.
  void allow_all() noexcept { named_only_ = false; }
  /// Whether write() was called since the last allow_only().
  [[nodiscard]] bool has_written() const noexcept { return has_written_; }

 private:
  std::size_t number_of(const element& e);

  acquisition& held_;
  copies& copies_;
  std::span<const void* const> maps_;
  std::span<const std::size_t> named_;
  bool named_only_ = false, has_written_ = false;
};

}  // namespace cairn::dtx
