// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <cairn/algo/sssp.hpp>
#include <cairn/core/timed_choice.hpp>

#include "algo/reach.hpp"
#include "algo/width_choice.hpp"

namespace cairn::algo {

/// Whether several workers lower distances in tables of their own, or by atomic instructions. What
/// is faster depends on the graph, and on how long a cache line takes from one core to another.
///
/// A pure state machine.
class table_choice {
 public:
  /// Whether the next search uses tables: the same until a search is reported.
  [[nodiscard]] bool next() {
    if (!next_) next_ = choice_.next(0, begins_with_tables);
    return *next_;
  }
  /// Reports that search. Both ways relax the same number of edges within a few percent.
  void took(std::uint64_t ns, std::uint64_t relaxations) {
    constexpr std::uint64_t few = 1'000;  // fixed costs dominate
    const bool used = next();
    next_.reset();
    if (relaxations < few) return;
    choice_.took(used, static_cast<double>(ns) / static_cast<double>(relaxations));
  }

  bool begins_with_tables = false;  ///< set by tests

 private:
  timed_choice choice_;
  std::optional<bool> next_;
};

/// What searches in one graph learn from earlier ones.
struct search_choices {
  /// The width for one worker, or for several, who waste more.
  [[nodiscard]] width_choice& width(const world& w) { return widths[w.workers() > 1 ? 1 : 0]; }

  [[nodiscard]] table_choice& tables(sssp_method by, bool has_layout) {
    return tables_by_kind[2 * static_cast<std::size_t>(by) + (has_layout ? 1 : 0)];
  }

  std::array<width_choice, 2> widths;
  std::array<table_choice, 2 * enum_names<sssp_method>.size()> tables_by_kind;
};

/// Reports a search on one rank that relaxed each edge of each reached vertex at least once.
///
/// Work      O(n) if the report may change the factor
template <class Id, class Distance>
void learn_width(width_choice& widths, const graph::csr<Id>& out,
                 const sssp_result<Distance>& found) {
  if (!widths.learns_from(found.relaxations)) return;
  const auto useful = count_reach(out, found.distance).edges;
  widths.report(found.relaxations, found.relaxations - std::min(useful, found.relaxations));
}

}  // namespace cairn::algo
