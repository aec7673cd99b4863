// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/traverse/bit_set.hpp>

namespace cairn::algo {

/// The own vertices through which no shortest path leads: those without out-edges and, in an
/// undirected graph, those with one edge, because the way back along it is no shorter. A search
/// that reaches such a vertex need not expand it. A search that begins there must.
///
/// Memory    one bit per own vertex
class dead_ends {
 public:
  /// The degree of dead ends, vertices without any edge apart.
  template <class Id>
  [[nodiscard]] static std::uint64_t degree_in(const graph::dist_csr<Id>& g) {
    return g.directed() ? 0 : 1;
  }

  /// O(n / P), once per graph.
  template <class Id>
  dead_ends(world& w, const graph::dist_csr<Id>& g)
      : first_(g.out().first()), marks_(w, g.out().num_rows()) {
    const auto& out = g.out();
    const auto most = degree_in(g);
    constexpr std::size_t per_word = 64, chunk = 256;
    w.parallel_for(
        marks_.words().size(),
        [&](worker_t, std::size_t word, std::size_t last_word) {
          const auto last = std::min<std::size_t>(out.num_rows(), last_word * per_word);
          for (auto i = word * per_word; i < last; ++i) {
            if (out.degree(first_ + i) <= most) marks_.set(i);
          }
        },
        chunk);
  }

  /// Passed by value, so that a loop keeps it in registers.
  class view {
   public:
    view() = default;  ///< no dead ends
    explicit view(const dead_ends* all)
        : words_(all ? all->marks_.words().data() : nullptr), first_(all ? all->first_ : 0) {}
    [[nodiscard]] [[gnu::always_inline]] bool operator[](std::uint64_t v) const {
      if (words_ == nullptr) return false;
      const auto i = v - first_;
      return (words_[i / 64] >> (i % 64) & 1) != 0;
    }

   private:
    const std::uint64_t* words_ = nullptr;
    std::uint64_t first_ = 0;
  };

 private:
  std::uint64_t first_;
  traverse::bit_set marks_;
};

}  // namespace cairn::algo
