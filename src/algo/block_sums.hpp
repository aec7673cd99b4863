// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <cairn/algo/pull_layout.hpp>
#include <cairn/tm/cell.hpp>

namespace cairn::algo {

/// The number of terms that are summed as they are, in four parts. Longer sums are added up in
/// `double`: the rounding errors of a million similar terms in `float` are a thousandth of the sum.
inline constexpr std::ptrdiff_t longest_sum = 1024;

/// Sums the contributions of the sources in a layout's rows, block by block.
///
/// Source    the source type of the layout
/// Shared    other workers write the contributions concurrently (in-place sweeps)
template <class Real, class Id, class Source, bool Shared>
class block_sums {
 public:
  block_sums(const pull_layout<Id>& layout, const Real* contributions)
      : sources_(layout.template sources<Source>()), contributions_(contributions) {}

  /// Calls add(row, sum) for each row of a block, by position in the block; with tiles once per
  /// tile. Returns `add`, which is passed by value, so that loops keep it in registers.
  template <class Add>
  Add operator()(const typename pull_layout<Id>::block& b, Add add) const {
    const auto* rows = b.rows.data();
    const auto* sources = sources_ + b.first_source;
    for (const auto& g : b.groups) {
      const auto* const from =
          contributions_ + (sizeof(Source) == 2 ? g.segment * pull_layout<Id>::segment_size : 0);
      add = add_rows(g, from, sources, rows, add, std::make_index_sequence<unrolled>{});
      rows += g.num_rows;
      sources += std::uint64_t{g.num_rows} * g.length;
    }
    return add;
  }

 private:
  static constexpr std::size_t unrolled = 17;  // row lengths with an unrolled loop

  [[gnu::always_inline]] static Real load(const Real* from, Source u) {
    return Shared ? tm::load_cell(from[u]) : from[u];
  }

  template <class Add, std::size_t... I>
  [[gnu::always_inline]] static Add add_rows(const typename pull_layout<Id>::group& g,
                                             const Real* from, const Source* sources,
                                             const std::uint16_t* rows, Add add,
                                             std::index_sequence<I...>) {
    const bool done =
        g.length < unrolled &&
        ((g.length == I && (add = add_short_rows<I>(g.num_rows, from, sources, rows, add), true)) ||
         ...);
    return done ? add : add_long_rows(g, from, sources, rows, add);
  }

  template <std::size_t Length, class Add>
  static Add add_short_rows(std::size_t n, const Real* from, const Source* sources,
                            const std::uint16_t* rows, Add add) {
    for (std::size_t i = 0; i < n; ++i, sources += Length) {
      Real part[4] = {};
      for (std::size_t j = 0; j < Length; ++j) part[j % 4] += load(from, sources[j]);
      add(rows[i], (part[0] + part[1]) + (part[2] + part[3]));
    }
    return add;
  }

  template <class Add>
  static Add add_long_rows(const typename pull_layout<Id>::group& g, const Real* from,
                           const Source* sources, const std::uint16_t* rows, Add add) {
    for (std::size_t i = 0; i < g.num_rows; ++i) {
      const auto* const end = sources + g.length;
      double sum = 0;
      while (sources != end) {
        const auto n = std::min(end - sources, longest_sum);
        sum += double{add_up(from, sources, sources + n)};
        sources += n;
      }
      add(rows[i], static_cast<Real>(sum));
    }
    return add;
  }

  [[gnu::always_inline]] static Real add_up(const Real* from, const Source* sources,
                                            const Source* end) {
    Real part[4] = {};
    for (; end - sources >= 4; sources += 4) {
      for (std::size_t j = 0; j < 4; ++j) part[j] += load(from, sources[j]);
    }
    for (; sources != end; ++sources) part[0] += load(from, *sources);
    return (part[0] + part[1]) + (part[2] + part[3]);
  }

  const Source* sources_;
  const Real* contributions_;
};

}  // namespace cairn::algo
