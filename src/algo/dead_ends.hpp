// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/traverse/bit_set.hpp>

namespace cairn::algo {

/// The own vertices through which no shortest path leads: those without out-edges and, in an
/// undirected graph, those with one edge. Such a vertex is reached along the only edge that it has,
/// so a search that reaches it need not expand it. A search that begins there must.
///
/// Memory    one bit per own vertex
class dead_ends {
 public:
  /// O(n / P), once per graph.
  template <class Id>
  dead_ends(world& w, const graph::dist_csr<Id>& g)
      : first_(g.out().first()), marks_(w, g.out().num_rows()) {
    const auto& out = g.out();
    const std::uint64_t max_degree = g.directed() ? 0 : 1;
    constexpr std::size_t per_word = 64, chunk = 256;
    w.parallel_for(
        marks_.words().size(),
        [&](worker_t, std::size_t word, std::size_t last_word) {
          const auto last = std::min<std::size_t>(out.num_rows(), last_word * per_word);
          for (auto i = word * per_word; i < last; ++i) {
            if (out.degree(first_ + i) <= max_degree) marks_.set(i);
          }
        },
        chunk);
  }
  /// The number of dead ends, vertices without any edge included.
  [[nodiscard]] std::uint64_t size() const {
    std::uint64_t all = 0;
    for (const auto word : marks_.words()) all += static_cast<std::uint64_t>(std::popcount(word));
    return all;
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

/// The dead ends if they are many. To look up a few costs more than to expand them.
///
/// linked    own vertices with edges
template <class Id>
[[nodiscard]] std::shared_ptr<const dead_ends> many_dead_ends(world& w,
                                                              const graph::dist_csr<Id>& g,
                                                              std::uint64_t linked) {
  constexpr std::uint64_t one_in = 8;
  auto all = std::make_shared<const dead_ends>(w, g);
  const auto isolated = g.directed() ? 0 : g.out().num_rows() - linked;
  const auto reachable = g.out().num_rows() - isolated;
  return (all->size() - isolated) * one_in >= reachable ? all : nullptr;
}

}  // namespace cairn::algo
