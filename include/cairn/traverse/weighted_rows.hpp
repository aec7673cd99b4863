// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <cairn/base/contract.hpp>
#include <cairn/graph/csr.hpp>
#include <cairn/graph/edge.hpp>

namespace cairn::traverse {

/// Lower ends of the weight bins by which the edges of a row are ordered, ascending; the first is
/// 0. If all are 0, the row has no order by weight.
template <class Weight>
using weight_bins = std::array<Weight, 8>;
template <class Weight>
inline constexpr Weight no_weight = std::numeric_limits<Weight>::has_infinity
                                        ? std::numeric_limits<Weight>::infinity()
                                        : std::numeric_limits<Weight>::max();

/// A function whose type has `is_short = std::true_type`. It is so little code that a loop over
/// edges is worth compiling with and without weights, which saves registers.
template <class F>
concept short_body = std::remove_cvref_t<F>::is_short::value;

/// Rows with the weights of their edges. Passed by value, so that a loop keeps it in registers;
/// valid as long as the rows. In a graph without weights each edge has weight 1.
///
/// Weight    std::int32_t or double
template <class Id, class Weight>
class weighted_rows {
 public:
  using edge = graph::weighted_edge<Id, Weight>;

  /// A row's edges, as positions in all edges.
  struct row {
    std::uint64_t begin, size;
  };

  /// Throws    contract_violation if the rows have weights of another type
  explicit weighted_rows(const graph::csr<Id>& rows)
      : offsets_(origin_of(rows.first(), rows.offsets().data())), targets_(rows.targets().data()) {
    CAIRN_EXPECTS(!rows.weighted() || rows.template weighted_by<Weight>());
    if (rows.weighted()) take(rows.template edges<Weight>().data(), rows.offsets().front());
  }
  /// edges     edges of all rows; row v begins at offsets[v - first], row 0 of them at 0
  /// bins      bins by which the edges of every row are ordered
  weighted_rows(std::uint64_t first, const std::uint64_t* offsets, const edge* edges,
                const weight_bins<Weight>& bins)
      : offsets_(origin_of(first, offsets)), bins_(bins) {
    take(edges, 0);
  }

  [[nodiscard]] [[gnu::always_inline]] row row_of(std::uint64_t v) const noexcept {
    const auto* const at =
        reinterpret_cast<const std::uint64_t*>(offsets_ + v * sizeof(std::uint64_t));
    return {at[0], at[1] - at[0]};
  }
  [[nodiscard]] std::uint64_t degree(std::uint64_t v) const noexcept { return row_of(v).size; }

  /// The edge at a position in all edges.
  [[nodiscard]] edge edge_at(std::uint64_t at) const noexcept {
    return {targets_[at * target_step_], weights_[at * weight_step_]};
  }
  /// Calls f(u, weight) for each edge of a row, from its vertex to u. A short f is compiled for
  /// storage with and without weights: see short_body.
  template <class F>
  [[gnu::always_inline]] void each_edge(row of, F&& f) const {
    const auto num = of.size;
    const auto* target = targets_ + of.begin * target_step_;
    const auto* weight = weights_ + of.begin * weight_step_;
    if constexpr (!short_body<F>) {
      for (std::size_t i = 0; i < num; ++i, target += target_step_, weight += weight_step_) {
        f(*target, *weight);
      }
    } else if (weight_step_ > 0) {
      const auto* const edges = reinterpret_cast<const edge*>(target);
      for (std::size_t i = 0; i < num; ++i) f(edges[i].target, edges[i].weight);
    } else {
      for (std::size_t i = 0; i < num; ++i) f(target[i], Weight{1});
    }
  }
  /// Whether the edges of each row are ordered by bins.
  [[nodiscard]] bool binned() const noexcept { return bins_.back() > 0; }
  /// each_edge for edges of weight at most `max_weight`. Stops at the first edge of a heavier bin.
  template <class F>
  [[gnu::always_inline]] void each_edge_within(row of, Weight max_weight, F&& f) const {
    auto num = of.size;
    const auto* target = targets_ + of.begin * target_step_;
    const auto* weight = weights_ + of.begin * weight_step_;
    auto heavier = bins_.size();  // the first bin whose edges are all heavier
    while (heavier > 0 && bins_[heavier - 1] > max_weight) --heavier;
    const bool ends = heavier < bins_.size();
    const auto end = ends ? bins_[heavier] : Weight{};
    for (; num > 0; --num, target += target_step_, weight += weight_step_) {
      const auto x = *weight;
      if (x <= max_weight) {
        f(*target, x);
      } else if (ends && x >= end) {
        return;
      }
    }
  }

  /// Prefetches the first edges of a row.
  [[gnu::always_inline]] void prefetch(row of) const noexcept {
    constexpr std::uint64_t line = 64 / sizeof(Id);  // many rows extend into the next line
    const auto* const target = targets_ + of.begin * target_step_;
    __builtin_prefetch(target);
    __builtin_prefetch(target + line);
  }

 private:
  static constexpr std::array<Weight, 1> one{1};

  // front     offset of the first edge
  void take(const edge* edges, std::uint64_t front) noexcept {
    if (edges == nullptr) return;  // there are none
    const auto origin = reinterpret_cast<std::uintptr_t>(edges) - front * sizeof(edge);
    targets_ = reinterpret_cast<const Id*>(origin + offsetof(edge, target));
    weights_ = reinterpret_cast<const Weight*>(origin + offsetof(edge, weight));
    target_step_ = sizeof(edge) / sizeof(Id);
    weight_step_ = sizeof(edge) / sizeof(Weight);
  }
  static std::uintptr_t origin_of(std::uint64_t first, const std::uint64_t* offsets) {
    return reinterpret_cast<std::uintptr_t>(offsets) - first * sizeof(std::uint64_t);
  }

  std::uintptr_t offsets_;  // where that of row 0 would be: one register in a loop instead of two
  const Id* targets_ = nullptr;
  const Weight* weights_ = one.data();
  // Distances between consecutive edges, in elements. Without weights the step is 0.
  std::size_t target_step_ = 1, weight_step_ = 0;
  weight_bins<Weight> bins_{};
};

}  // namespace cairn::traverse
