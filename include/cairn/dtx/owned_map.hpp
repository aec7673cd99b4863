// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <span>

#include <cairn/core/world.hpp>
#include <cairn/dtx/marker.hpp>
#include <cairn/pgas/edge_map.hpp>
#include <cairn/pgas/vertex_map.hpp>

namespace cairn::dtx {

/// One T per vertex (or edge) with a marker beside it, so that distributed transactions can hold
/// it. Multi-cell operators at the owner access it like any other map element, and wait while it is
/// held; a single-cell operator does not compile.
///
/// Map         pgas::vertex_map, constructed from a partition, or pgas::edge_map, from this rank's
///             rows
/// Memory      that of `Map`, and 8 bytes per element of this rank
/// Collective  constructor
template <class T, template <class> class Map = pgas::vertex_map>
class owned_map {
 public:
  using value_type = T;

  owned_map(world& w, const pgas::partition& partition,
            const T& initial) requires std::same_as<Map<T>, pgas::vertex_map<T>>
      : values_(w, partition, initial), markers_(w, partition, free_marker) {}
  owned_map(world& w, std::span<const std::uint64_t> offsets,
            const T& initial) requires std::same_as<Map<T>, pgas::edge_map<T>>
      : values_(w, offsets, initial), markers_(w, offsets, free_marker) {}
  owned_map(const owned_map&) = delete;
  owned_map& operator=(const owned_map&) = delete;

  [[nodiscard]] rank_t owner(std::uint64_t id) const noexcept { return values_.owner(id); }
  [[nodiscard]] bool owns(std::uint64_t id) const noexcept { return values_.owns(id); }
  [[nodiscard]] std::uint64_t first() const noexcept { return values_.first(); }
  [[nodiscard]] std::uint64_t size() const noexcept { return values_.size(); }
  [[nodiscard]] const T& initial() const noexcept { return values_.initial(); }

  [[nodiscard]] pgas::place<owned_map> at(std::uint64_t id) const noexcept { return {this, id}; }
  /// Marker of an element of this rank; accessed by the mechanism of the domain.
  [[nodiscard]] marker_word& marker(std::uint64_t id) const noexcept {
    return markers_.at(id).element();
  }

  /// This rank's elements and their markers, by id - first(). For use while no other worker
  /// changes them.
  [[nodiscard]] std::span<T> local() noexcept { return values_.local(); }
  [[nodiscard]] std::span<const T> local() const noexcept { return values_.local(); }
  [[nodiscard]] std::span<const marker_word> local_markers() const noexcept {
    return markers_.local();
  }

  /// The underlying maps. Access to their elements ignores the markers.
  [[nodiscard]] const Map<T>& values() const noexcept { return values_; }
  [[nodiscard]] const Map<marker_word>& markers() const noexcept { return markers_; }

 private:
  friend struct pgas::place<owned_map>;
  [[nodiscard]] T& element(std::uint64_t id) const noexcept { return values_.at(id).element(); }

  Map<T> values_;
  Map<marker_word> markers_;
};

template <class T>
using owned_vertex_map = owned_map<T, pgas::vertex_map>;
template <class T>
using owned_edge_map = owned_map<T, pgas::edge_map>;

}  // namespace cairn::dtx
