// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include <cairn/base/contract.hpp>
#include <cairn/graph/bijection.hpp>

namespace cairn::graph {

/// Which vertex represents which position of the input's order: a permutation of [0, n).
///
/// Copies share their tables.
/// Memory    nothing for the identity and scrambled orders; for listed ones 8 bytes a vertex, 16
///           from 2^32 vertices on
class vertex_order {
 public:
  /// Vertex v represents position v.
  vertex_order() = default;
  /// A pseudo-random order chosen by a seed; see bijection.
  [[nodiscard]] static vertex_order scrambled(const bijection::parameters& p) noexcept {
    vertex_order order;
    order.permutation_ = bijection(p);
    return order;
  }
  /// Vertex v represents position positions[v]. The identity is recognised.
  /// Throws    contract_violation if `positions` is not a permutation of [0, positions.size())
  [[nodiscard]] static vertex_order listed(const std::vector<std::uint64_t>& positions);

  [[nodiscard]] bool identity() const noexcept { return permutation_.index() == 0; }
  [[nodiscard]] std::uint64_t vertex_at(std::uint64_t position) const noexcept {
    if (const auto* list = std::get_if<tables>(&permutation_)) return (*list)->vertex_at(position);
    if (const auto* scramble = std::get_if<bijection>(&permutation_)) return (*scramble)(position);
    return position;
  }
  [[nodiscard]] std::uint64_t position_of(std::uint64_t vertex) const noexcept {
    if (const auto* list = std::get_if<tables>(&permutation_)) return (*list)->position_of(vertex);
    if (const auto* scramble = std::get_if<bijection>(&permutation_))
      return scramble->inverse(vertex);
    return vertex;
  }

 private:
  /// Both directions, in 32 bits if that suffices.
  struct table {
    std::vector<std::uint32_t> narrow_vertices, narrow_positions;
    std::vector<std::uint64_t> vertices, positions;

    [[nodiscard]] std::uint64_t vertex_at(std::uint64_t position) const noexcept {
      return vertices.empty() ? narrow_vertices[position] : vertices[position];
    }
    [[nodiscard]] std::uint64_t position_of(std::uint64_t vertex) const noexcept {
      return positions.empty() ? narrow_positions[vertex] : positions[vertex];
    }
  };
  using tables = std::shared_ptr<const table>;

  std::variant<std::monostate, bijection, tables> permutation_;
};

}  // namespace cairn::graph
