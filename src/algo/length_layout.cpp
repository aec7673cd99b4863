// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <type_traits>
#include <vector>

#include <cairn/algo/length_layout.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/random.hpp>
#include <cairn/task/per_worker.hpp>

#include "algo/far_neighbors.hpp"
#include "algo/sort.hpp"

namespace cairn::algo {
namespace {

// Lower ends of bins, by a sample. The bins of light edges hold fewer: a search visits a few light
// edges of most rows, and all edges of few rows.
template <class Id, class Weight>
traverse::weight_bins<Weight> bins_of(std::span<const graph::weighted_edge<Id, Weight>> edges) {
  traverse::weight_bins<Weight> bins{};
  constexpr std::size_t sample = 1024;
  constexpr std::array<std::size_t, std::tuple_size_v<traverse::weight_bins<Weight>>> lighter{
      0, sample / 64, sample / 32, sample / 16, sample / 8, sample / 4, sample / 2, sample * 3 / 4};
  std::vector<Weight> drawn;
  random64 draw(edges.size());
  for (std::size_t i = 0; i < sample && !edges.empty(); ++i) {
    drawn.push_back(edges[draw.below(edges.size())].weight);
  }
  std::sort(drawn.begin(), drawn.end());
  for (std::size_t i = 1; i < bins.size() && !drawn.empty(); ++i) {
    bins[i] = drawn[lighter[i]];
  }
  return bins;
}

}  // namespace

template <class Id>
bool length_layout<Id>::suits(const graph::dist_csr<Id>& g) {
  constexpr std::uint64_t min_degree = 4;  // shorter rows have nothing to skip
  // Near targets share cache lines only in the order of the graph.
  constexpr std::uint64_t far_target = 1 << 12;
  return g.out().num_edges() >= min_degree * g.num_vertices() &&
         share_of_far_neighbors(g.out(), far_target) > 0.75;
}

template <class Id>
length_layout<Id>::length_layout(world& w, const graph::dist_csr<Id>& g) {
  CAIRN_EXPECTS(w.size() == 1 && g.weighted() && g.out().offsets().front() == 0);
  if (g.out().template weighted_by<double>()) {
    build<double>(w, g);
  } else {
    build<std::int32_t>(w, g);
  }
}

template <class Id>
template <class Weight>
void length_layout<Id>::build(world& w, const graph::dist_csr<Id>& g) {
  const auto edges = g.out().template edges<Weight>();
  const auto offsets = g.out().offsets();
  auto& to = out_.template emplace<edge_array<Weight>>();
  to.edges = hw::page_buffer<edge<Weight>>(edges.size());
  to.bins = bins_of(edges);
  put_rows(w, offsets, edges.data(), to);
  if (g.directed()) transpose<Weight>(w, g.out());
}

template <class Id>
template <class Weight>
void length_layout<Id>::transpose(world& w, const graph::csr<Id>& out) {
  const auto& from = std::get<edge_array<Weight>>(out_);
  const auto offsets = out.offsets();
  in_offsets_ = hw::page_buffer<std::uint64_t>(out.num_rows() + 2);
  std::ranges::fill(in_offsets_.span(), 0);
  auto* const at = in_offsets_.data();
  in_pieces(w, from.edges.size(), [&](std::size_t i, std::size_t last) {
    for (; i < last; ++i) ++at[from.edges[i].target + 2];
  });
  in_pieces(w, out.num_rows(), [&](std::size_t v, std::size_t last) {
    for (; v < last; ++v) at[v + 2] += at[v + 1];
  });
  hw::page_buffer<edge<Weight>> unordered(out.num_edges());
  in_pieces(w, from.edges.size(),
            [&, v = std::uint64_t{0}](std::size_t i, std::size_t last) mutable {
              for (; i < last; ++i) {
                while (i >= offsets[v + 1]) ++v;
                const auto& e = from.edges[i];
                unordered[at[e.target + 1]++] = {static_cast<Id>(v), e.weight};
              }
            });
  auto& to = in_.template emplace<edge_array<Weight>>();
  to.edges = hw::page_buffer<edge<Weight>>(out.num_edges());
  to.bins = from.bins;
  put_rows(w, in_offsets_.span().first(out.num_rows() + 1), unordered.data(), to);
}

// Orders each row by bins, and within a bin by target.
template <class Id>
template <class Weight>
void length_layout<Id>::put_rows(world& w, std::span<const std::uint64_t> offsets,
                                 const edge<Weight>* from, edge_array<Weight>& to) {
  constexpr std::size_t chunk = 256;
  const auto bins = to.bins;
  task::per_worker<std::vector<std::uint8_t>> kept(w.workers());
  w.parallel_for(
      offsets.size() - 1,
      [&](worker_t k, std::size_t v, std::size_t last) {
        auto& bin_of = kept[k];
        for (; v < last; ++v) {
          const auto n = offsets[v + 1] - offsets[v];
          const auto* const row = from + offsets[v];
          if (bin_of.size() < n) bin_of.resize(2 * n);
          std::array<std::uint32_t, std::tuple_size_v<traverse::weight_bins<Weight>> + 1> at{};
          for (std::size_t i = 0; i < n; ++i) {
            unsigned bin = 0;
            for (std::size_t b = 1; b < bins.size(); ++b) bin += bins[b] <= row[i].weight ? 1u : 0u;
            bin_of[i] = static_cast<std::uint8_t>(bin);
            ++at[bin + 1];
          }
          for (std::size_t b = 1; b < at.size(); ++b) at[b] += at[b - 1];
          auto* const edges = to.edges.data() + offsets[v];
          for (std::size_t i = 0; i < n; ++i) edges[at[bin_of[i]]++] = row[i];
        }
      },
      chunk);
}

template class length_layout<std::uint32_t>;
template class length_layout<std::uint64_t>;

}  // namespace cairn::algo
