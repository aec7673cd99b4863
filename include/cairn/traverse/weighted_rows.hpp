// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <variant>

#include <cairn/base/contract.hpp>
#include <cairn/graph/csr.hpp>

namespace cairn::traverse {

/// Rows with the weights of their edges, by value: a loop keeps it in registers. An edge of a graph
/// without weights has weight 1. Valid as long as the graph.
///
/// Weight    std::int32_t or double
/// Throws    contract_violation if the rows have weights of another type
template <class Id, class Weight>
class weighted_rows {
 public:
  explicit weighted_rows(const graph::csr<Id>& rows)
      : first_(rows.first()), offsets_(rows.offsets().data()), targets_(rows.targets().data()) {
    CAIRN_EXPECTS(!rows.weighted() || rows.template weighted_by<Weight>());
    if (rows.weighted()) {
      weights_ = std::get<graph::array<Weight>>(rows.weights()).data();
      mask_ = ~std::size_t{0};
    }
  }

  [[nodiscard]] std::uint64_t degree(std::uint64_t v) const noexcept {
    const auto* const at = offsets_ + (v - first_);
    return at[1] - at[0];
  }

  /// Calls f(u, weight) for each edge from v to u.
  template <class F>
  [[gnu::always_inline]] void each_edge(std::uint64_t v, F&& f) const {
    const auto* const at = offsets_ + (v - first_);
    for (auto i = at[0]; i < at[1]; ++i) f(targets_[i], weights_[i & mask_]);
  }

  /// As row_view: asks for the offset of row v, and for row w whose offset was asked for before.
  [[gnu::always_inline]] void prefetch_offset(std::uint64_t v) const noexcept {
    __builtin_prefetch(offsets_ + (v - first_));
  }
  [[gnu::always_inline]] void prefetch_row(std::uint64_t w) const noexcept {
    const auto at = offsets_[w - first_];
    constexpr std::uint64_t line = 64 / sizeof(Id);  // many rows reach into the next one
    __builtin_prefetch(targets_ + at);
    __builtin_prefetch(targets_ + at + line);
    __builtin_prefetch(weights_ + (at & mask_));
    __builtin_prefetch(weights_ + ((at + line) & mask_));
  }

 private:
  static constexpr std::array<Weight, 1> one{1};

  std::uint64_t first_;
  const std::uint64_t* offsets_;
  const Id* targets_;
  const Weight* weights_ = one.data();
  std::size_t mask_ = 0;  // without weights every edge reads the same one
};

}  // namespace cairn::traverse
