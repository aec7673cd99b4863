// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <variant>

#include <cairn/base/contract.hpp>
#include <cairn/graph/csr.hpp>

namespace cairn::traverse {

/// An edge with its weight beside its target, so that both share a cache line.
template <class Id, class Weight>
struct weighted_edge {
  Id target;
  Weight weight;
};

/// Lower ends of the weight bins by which the edges of a row are ordered, ascending; the first is
/// 0. If all are 0, the row has no order by weight.
template <class Weight>
using weight_bins = std::array<Weight, 8>;
template <class Weight>
inline constexpr Weight no_weight = std::numeric_limits<Weight>::has_infinity
                                        ? std::numeric_limits<Weight>::infinity()
                                        : std::numeric_limits<Weight>::max();

/// A function whose type has `is_short = std::true_type`. It is so little code that a loop over
/// edges is worth compiling for each form of storage, which saves registers.
template <class F>
concept short_body = std::remove_cvref_t<F>::is_short::value;

/// Rows with the weights of their edges. Passed by value, so that a loop keeps it in registers;
/// valid as long as the rows. In a graph without weights each edge has weight 1.
///
/// Weight    std::int32_t or double
template <class Id, class Weight>
class weighted_rows {
 public:
  using edge = weighted_edge<Id, Weight>;

  /// Throws    contract_violation if the rows have weights of another type
  explicit weighted_rows(const graph::csr<Id>& rows)
      : first_(rows.first()), offsets_(rows.offsets().data()), targets_(rows.targets().data()) {
    CAIRN_EXPECTS(!rows.weighted() || rows.template weighted_by<Weight>());
    if (rows.weighted()) {
      weights_ = std::get<graph::array<Weight>>(rows.weights()).data();
      weight_step_ = 1;
    }
  }
  /// edges     edges of all rows; row v begins at offsets[v - first]
  /// bins      bins by which the edges of every row are ordered
  weighted_rows(std::uint64_t first, const std::uint64_t* offsets, const edge* edges,
                const weight_bins<Weight>& bins)
      : first_(first),
        offsets_(offsets),
        targets_(&edges->target),
        weights_(&edges->weight),
        target_step_(sizeof(edge) / sizeof(Id)),
        weight_step_(sizeof(edge) / sizeof(Weight)),
        bins_(bins) {}

  [[nodiscard]] std::uint64_t degree(std::uint64_t v) const noexcept {
    const auto* const at = offsets_ + (v - first_);
    return at[1] - at[0];
  }

  /// The i-th edge of all rows.
  [[nodiscard]] edge edge_at(std::uint64_t i) const noexcept {
    const auto at = offsets_[0] + i;
    return {targets_[at * target_step_], weights_[at * weight_step_]};
  }
  /// Calls f(u, weight) for each edge from v to u. A short f is compiled for each form of storage:
  /// see short_body.
  template <class F>
  [[gnu::always_inline]] void each_edge(std::uint64_t v, F&& f) const {
    auto [target, weight, num] = row(v);
    if constexpr (!short_body<F>) {
      for (; num > 0; --num, target += target_step_, weight += weight_step_) f(*target, *weight);
    } else if (target_step_ > 1) {
      const auto* const edges = reinterpret_cast<const edge*>(target);
      for (std::size_t i = 0; i < num; ++i) f(edges[i].target, edges[i].weight);
    } else if (weight_step_ > 0) {
      for (std::size_t i = 0; i < num; ++i) f(target[i], weight[i]);
    } else {
      for (std::size_t i = 0; i < num; ++i) f(target[i], Weight{1});
    }
  }
  /// Whether the edges of each row are ordered by bins.
  [[nodiscard]] bool binned() const noexcept { return bins_.back() > 0; }
  /// each_edge for edges of weight at most `max_weight`. Stops at the first edge of a heavier bin.
  template <class F>
  [[gnu::always_inline]] void each_edge_within(std::uint64_t v, Weight max_weight, F&& f) const {
    auto [target, weight, num] = row(v);
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

  /// Prefetches the offset of row v, and the edges of row w whose offset was prefetched earlier, as
  /// graph::row_view does.
  [[gnu::always_inline]] void prefetch_offset(std::uint64_t v) const noexcept {
    __builtin_prefetch(offsets_ + (v - first_));
  }
  [[gnu::always_inline]] void prefetch_row(std::uint64_t w) const noexcept {
    const auto at = offsets_[w - first_];
    constexpr std::uint64_t line = 64 / sizeof(Id);  // many rows extend into the next line
    const auto* const target = targets_ + at * target_step_;
    __builtin_prefetch(target);
    __builtin_prefetch(target + line);
    if (target_step_ > 1) return;  // the weights are in the same lines
    const auto* const weight = weights_ + at * weight_step_;
    __builtin_prefetch(weight);
    __builtin_prefetch(weight + line);
  }

 private:
  struct row_of {
    const Id* target;
    const Weight* weight;
    std::size_t num;
  };
  [[gnu::always_inline]] row_of row(std::uint64_t v) const {
    const auto* const at = offsets_ + (v - first_);
    return {targets_ + at[0] * target_step_, weights_ + at[0] * weight_step_, at[1] - at[0]};
  }

  static constexpr std::array<Weight, 1> one{1};

  std::uint64_t first_;
  const std::uint64_t* offsets_;
  const Id* targets_;
  const Weight* weights_ = one.data();
  // Distances between consecutive edges, in elements. Without weights the step is 0.
  std::size_t target_step_ = 1, weight_step_ = 0;
  weight_bins<Weight> bins_{};
};

}  // namespace cairn::traverse
