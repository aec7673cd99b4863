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

namespace cairn::algo {
namespace {

// Lower ends of bins, by a sample. The bins of light edges hold fewer: a search visits a few light
// edges of most rows, and all edges of few rows.
template <class Weight>
traverse::weight_bins<Weight> bins_of(std::span<const Weight> weights) {
  traverse::weight_bins<Weight> bins{};
  constexpr std::size_t sample = 1024;
  constexpr std::array<std::size_t, std::tuple_size_v<traverse::weight_bins<Weight>>> lighter{
      0, sample / 64, sample / 32, sample / 16, sample / 8, sample / 4, sample / 2, sample * 3 / 4};
  std::vector<Weight> drawn;
  random64 draw(weights.size());
  for (std::size_t i = 0; i < sample && !weights.empty(); ++i) {
    drawn.push_back(weights[draw.below(weights.size())]);
  }
  std::sort(drawn.begin(), drawn.end());
  for (std::size_t i = 1; i < bins.size() && !drawn.empty(); ++i) {
    bins[i] = drawn[lighter[i]];
  }
  return bins;
}

}  // namespace

template <class Id>
typename length_layout<Id>::kind length_layout<Id>::kind_for(const graph::dist_csr<Id>& g) {
  constexpr std::uint64_t min_degree = 4;  // shorter rows have nothing to skip
  const bool long_rows = g.out().num_edges() >= min_degree * g.num_vertices();
  // Far targets rarely share cache lines in any order of the row.
  constexpr std::uint64_t far_target = 1 << 12;
  const bool far = long_rows && share_of_far_neighbors(g.out(), far_target) > 0.75;
  return far ? kind::bins : kind::pairs;
}

template <class Id>
length_layout<Id>::length_layout(world& w, const graph::dist_csr<Id>& g, kind k) : kind_(k) {
  CAIRN_EXPECTS(w.size() == 1 && g.weighted());
  if (g.out().template weighted_by<double>()) {
    build<double>(w, g);
  } else {
    build<std::int32_t>(w, g);
  }
}

template <class Id>
template <class Weight>
void length_layout<Id>::build(world& w, const graph::dist_csr<Id>& g) {
  const auto offsets = g.out().offsets();
  const auto begin = offsets.front(), end = offsets.back();
  const auto* const targets = g.out().targets().data();
  const auto* const weights = std::get<graph::array<Weight>>(g.out().weights()).data();
  auto& to = out_.template emplace<edge_array<Weight>>();
  to.edges = hw::page_buffer<traverse::weighted_edge<Id, Weight>>(end);  // as offsets count
  if (kind_ == kind::bins) {
    to.bins = bins_of(std::span<const Weight>(weights + begin, end - begin));
    put_rows(w, offsets, targets, weights, to);
    if (g.directed()) transpose<Weight>(w, g.out());
    return;
  }
  auto* const edges = to.edges.data();
  constexpr std::size_t chunk = 1 << 14;
  w.parallel_for(
      end - begin,
      [=](worker_t, std::size_t i, std::size_t last) {
        for (auto at = begin + i; at < begin + last; ++at) edges[at] = {targets[at], weights[at]};
      },
      chunk);
}

template <class Id>
template <class Weight>
void length_layout<Id>::transpose(world& w, const graph::csr<Id>& out) {
  const auto& from = std::get<edge_array<Weight>>(out_);
  const auto offsets = out.offsets();
  in_offsets_ = hw::page_buffer<std::uint64_t>(out.num_rows() + 2);
  std::ranges::fill(in_offsets_.span(), 0);
  auto* const at = in_offsets_.data();
  for (auto i = offsets.front(); i < offsets.back(); ++i) ++at[from.edges[i].target + 2];
  for (std::size_t v = 2; v < in_offsets_.size(); ++v) at[v] += at[v - 1];
  hw::page_buffer<Id> sources(out.num_edges());
  hw::page_buffer<Weight> weights(out.num_edges());
  for (std::uint64_t v = 0; v < out.num_rows(); ++v) {
    for (auto i = offsets[v]; i < offsets[v + 1]; ++i) {
      const auto& e = from.edges[i];
      const auto place = at[e.target + 1]++;
      sources[place] = static_cast<Id>(v);
      weights[place] = e.weight;
    }
  }
  auto& to = in_.template emplace<edge_array<Weight>>();
  to.edges = hw::page_buffer<traverse::weighted_edge<Id, Weight>>(out.num_edges());
  to.bins = from.bins;
  put_rows(w, in_offsets_.span().first(out.num_rows() + 1), sources.data(), weights.data(), to);
}

// Orders each row by bins, and within a bin by target.
template <class Id>
template <class Weight>
void length_layout<Id>::put_rows(world& w, std::span<const std::uint64_t> offsets,
                                 const Id* targets, const Weight* weights, edge_array<Weight>& to) {
  constexpr std::size_t chunk = 256;
  const auto bins = to.bins;
  task::per_worker<std::vector<std::uint8_t>> kept(w.workers());
  w.parallel_for(
      offsets.size() - 1,
      [&](worker_t k, std::size_t v, std::size_t last) {
        auto& bin_of = kept[k];
        for (; v < last; ++v) {
          const auto n = offsets[v + 1] - offsets[v];
          const auto* const row = weights + offsets[v];
          if (bin_of.size() < n) bin_of.resize(2 * n);
          std::array<std::uint32_t, std::tuple_size_v<traverse::weight_bins<Weight>> + 1> at{};
          for (std::size_t i = 0; i < n; ++i) {
            unsigned bin = 0;
            for (std::size_t b = 1; b < bins.size(); ++b) bin += bins[b] <= row[i] ? 1u : 0u;
            bin_of[i] = static_cast<std::uint8_t>(bin);
            ++at[bin + 1];
          }
          for (std::size_t b = 1; b < at.size(); ++b) at[b] += at[b - 1];
          auto* const edges = to.edges.data() + offsets[v];
          for (std::size_t i = 0; i < n; ++i) {
            edges[at[bin_of[i]]++] = {targets[offsets[v] + i], row[i]};
          }
        }
      },
      chunk);
}

template class length_layout<std::uint32_t>;
template class length_layout<std::uint64_t>;

}  // namespace cairn::algo
