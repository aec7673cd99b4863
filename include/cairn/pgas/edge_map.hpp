// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include <cairn/base/contract.hpp>
#include <cairn/pgas/element_map.hpp>
#include <cairn/pgas/partition.hpp>

namespace cairn::pgas {

/// One T per edge, at the owner of the edge's source, initialised to `initial`.
///
/// Edge ids are consecutive in the rows of rank 0, then of rank 1, and so on. An undirected edge
/// has two elements, one in the row of each endpoint.
///
/// offsets     this rank's rows, as csr::offsets(): row i is [offsets[i], offsets[i + 1]). They
///             outlive the map
/// Memory      that of an element_map, and 8 bytes per rank
/// Work        O(log ranks) to find the owner of an edge
/// Collective  constructor
template <class T>
class edge_map : public element_map<T, partition> {
 public:
  edge_map(world& w, std::span<const std::uint64_t> offsets, const T& initial)
      : element_map<T, partition>(w, partition::listed(w.all_gather(length(offsets))), initial),
        offsets_(offsets) {}

  /// Id of entry i of this rank's row `row`, counted from this rank's first row.
  [[nodiscard]] std::uint64_t id_of(std::uint64_t row, std::uint64_t i) const noexcept {
    CAIRN_ASSERT(offsets_[row] + i < offsets_[row + 1]);
    return this->first() + (offsets_[row] - offsets_.front()) + i;
  }

 private:
  static std::uint64_t length(std::span<const std::uint64_t> offsets) noexcept {
    return offsets.empty() ? 0 : offsets.back() - offsets.front();
  }

  std::span<const std::uint64_t> offsets_;
};

}  // namespace cairn::pgas
