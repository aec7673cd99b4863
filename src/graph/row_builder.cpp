// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <graph/bucket_sorter.hpp>
#include <graph/row_builder.hpp>
#include <mutex>
#include <type_traits>
#include <utility>

#include <cairn/base/contract.hpp>
#include <cairn/hw/pages.hpp>
#include <cairn/task/parallel_for.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/task/spin_lock.hpp>

namespace cairn::graph::detail {
namespace {

constexpr std::uint64_t most_buckets = 1024;  // lines for all of them fit an L2
constexpr unsigned most_row_bits = 16;
constexpr std::size_t line_arcs = 16;
constexpr auto unsorted = ~std::uint64_t{0};

template <class W>
struct weight_line {
  W at[line_arcs];
};
template <>
struct weight_line<unweighted> {};

template <class Id, class W>
class row_builder {
 public:
  row_builder(task::pool& workers, std::vector<io::edge_block>& blocks, const row_request& request)
      : pool_(workers),
        chunks_(blocks),
        request_(request),
        num_rows_(request.last - request.first) {}

  csr<Id> build() {
    choose_buckets();
    count_arcs();
    deal_arcs();
    sort_buckets();
    return finish();
  }

 private:
  static constexpr bool weighted = !std::is_same_v<W, unweighted>;

  struct line {
    Id targets[line_arcs];
    std::uint16_t rows[line_arcs];
    [[no_unique_address]] weight_line<W> weights;
  };
  struct dealer {
    std::vector<line> lines;
    std::vector<std::uint8_t> fill;
  };

  void choose_buckets() {
    const auto arcs = chunks_.num_edges() * (request_.arcs == direction::both ? 2 : 1);
    const auto wanted = std::clamp<std::uint64_t>(arcs / request_.bucket_arcs, 1, most_buckets);
    while (row_bits_ < most_row_bits && (num_rows_ >> row_bits_) > wanted) ++row_bits_;
    num_buckets_ = static_cast<std::size_t>((num_rows_ + row_mask()) >> row_bits_);
  }

  template <class F>
  void for_each_arc(std::size_t chunk, F&& f) {
    chunks_.for_each(chunk, request_.arcs, request_.drop_self_loops,
                     [&](Id source, Id target, W weight) {
                       const auto row = source - request_.first;
                       CAIRN_ASSERT(row < num_rows_ && target < request_.num_vertices);
                       f(row, target, weight);
                     });
  }

  void count_arcs() {
    task::per_worker<std::vector<std::uint64_t>> counts(pool_.workers());
    task::parallel_for(pool_, chunks_.size(), 1, [&](worker_t w, std::size_t chunk, std::size_t) {
      counts[w].resize(num_buckets_);
      auto* const mine = counts[w].data();
      for_each_arc(chunk, [&](std::uint64_t row, Id, W) { ++mine[row >> row_bits_]; });
    });
    begins_.assign(num_buckets_ + 1, 0);
    for (const auto& mine : counts) {
      for (std::size_t b = 0; b < mine.value.size(); ++b) begins_[b + 1] += mine.value[b];
    }
    for (std::size_t b = 0; b < num_buckets_; ++b) begins_[b + 1] += begins_[b];
  }

  void deal_arcs() {
    const auto num_arcs = static_cast<std::size_t>(begins_.back());
    targets_ = hw::page_buffer<Id>(num_arcs);
    rows_ = hw::page_buffer<std::uint16_t>(num_arcs);
    if constexpr (weighted) weights_ = hw::page_buffer<W>(num_arcs);
    std::vector<std::atomic<std::uint64_t>> ends(num_buckets_);
    for (std::size_t b = 0; b < num_buckets_; ++b) {
      ends[b].store(begins_[b], std::memory_order_relaxed);
    }
    const auto empty_line = [&](const line& from, std::size_t b, std::size_t n) {
      const auto at = ends[b].fetch_add(n, std::memory_order_relaxed);
      std::memcpy(targets_.data() + at, from.targets, n * sizeof(Id));
      std::memcpy(rows_.data() + at, from.rows, n * sizeof(std::uint16_t));
      if constexpr (weighted) std::memcpy(weights_.data() + at, from.weights.at, n * sizeof(W));
    };

    task::per_worker<dealer> dealers(pool_.workers());
    task::parallel_for(pool_, chunks_.size(), 1, [&](worker_t w, std::size_t chunk, std::size_t) {
      dealers[w].lines.resize(num_buckets_);
      dealers[w].fill.resize(num_buckets_);
      auto* const lines = dealers[w].lines.data();
      auto* const fill = dealers[w].fill.data();
      for_each_arc(chunk, [&](std::uint64_t row, Id target, [[maybe_unused]] W weight) {
        const auto b = static_cast<std::size_t>(row >> row_bits_);
        const std::size_t at = fill[b];
        auto& to = lines[b];
        to.targets[at] = target;
        to.rows[at] = static_cast<std::uint16_t>(row & row_mask());
        if constexpr (weighted) to.weights.at[at] = weight;
        fill[b] = static_cast<std::uint8_t>((at + 1) % line_arcs);
        if (at + 1 == line_arcs) empty_line(to, b, line_arcs);
      });
      if (!request_.keep_blocks) chunks_.release(chunk);
    });
    for (const auto& [mine] : dealers) {
      for (std::size_t b = 0; b < mine.lines.size(); ++b) {
        if (mine.fill[b] != 0) empty_line(mine.lines[b], b, mine.fill[b]);
      }
    }
  }

  void sort_buckets() {
    offsets_ = hw::page_buffer<std::uint64_t>(static_cast<std::size_t>(num_rows_) + 1);
    sizes_ = std::vector<std::atomic<std::uint64_t>>(num_buckets_);
    for (auto& size : sizes_) size.store(unsorted, std::memory_order_relaxed);
    const auto target_bits = static_cast<unsigned>(
        std::bit_width(std::max<std::uint64_t>(request_.num_vertices, 2) - 1));
    task::per_worker<bucket_sorter<Id, W>> sorters(pool_.workers());
    task::parallel_for(pool_, num_buckets_, 1, [&](worker_t w, std::size_t b, std::size_t) {
      const auto size = sorters[w](bucket_at(b), target_bits, request_.drop_duplicates);
      sizes_[b].store(size, std::memory_order_release);
      close_gaps();
    });
    close_gaps();
  }

  bucket<Id, W> bucket_at(std::size_t b) {
    const auto first_row = static_cast<std::size_t>(b) << row_bits_;
    const auto at = static_cast<std::size_t>(begins_[b]);
    return {.targets = targets_.data() + at,
            .weights = weighted ? weights_.data() + at : nullptr,
            .rows = rows_.data() + at,
            .size = static_cast<std::size_t>(begins_[b + 1]) - at,
            .offsets = offsets_.data() + first_row,
            .num_rows = std::min<std::size_t>(num_rows_ - first_row, row_mask() + 1)};
  }

  // Moves sorted buckets down in ascending order, while they are still in cache, as far as all
  // before them are sorted. Whoever finds the guard taken leaves it to a later caller.
  void close_gaps() {
    const std::unique_lock held(gap_guard_, std::try_to_lock);
    if (!held) return;
    for (; next_ < num_buckets_; ++next_) {
      const auto size = sizes_[next_].load(std::memory_order_acquire);
      if (size == unsorted) return;
      const auto part = bucket_at(next_);
      if (part.targets != targets_.data() + end_) {
        std::memmove(targets_.data() + end_, part.targets, size * sizeof(Id));
        if constexpr (weighted) {
          std::memmove(weights_.data() + end_, part.weights, size * sizeof(W));
        }
      }
      for (std::size_t r = 0; r < part.num_rows; ++r) part.offsets[r] += end_;
      end_ += static_cast<std::size_t>(size);
    }
  }

  csr<Id> finish() {
    rows_ = {};
    offsets_[static_cast<std::size_t>(num_rows_)] = end_;
    targets_.shrink(end_);
    weight_array weights;
    if constexpr (weighted) {
      weights_.shrink(end_);
      weights = array<W>(std::move(weights_));
    }
    return {request_.first, array<std::uint64_t>(std::move(offsets_)),
            array<Id>(std::move(targets_)), std::move(weights)};
  }

  [[nodiscard]] std::uint64_t row_mask() const noexcept {
    return (std::uint64_t{1} << row_bits_) - 1;
  }

  task::pool& pool_;
  arc_chunks<Id, W> chunks_;
  const row_request request_;
  const std::uint64_t num_rows_;
  unsigned row_bits_ = 0;  // a bucket is 2^row_bits_ rows
  std::size_t num_buckets_ = 0;
  std::vector<std::uint64_t> begins_;  // of the buckets, shape [num_buckets_ + 1]

  hw::page_buffer<Id> targets_;
  hw::page_buffer<W> weights_;
  hw::page_buffer<std::uint16_t> rows_;  // of each arc, in its bucket
  hw::page_buffer<std::uint64_t> offsets_;

  std::vector<std::atomic<std::uint64_t>> sizes_;  // of the sorted buckets
  task::spin_lock gap_guard_;
  std::size_t next_ = 0, end_ = 0;  // guarded: buckets before next_ end at arc end_
};

}  // namespace

template <class Id, class W>
csr<Id> build_rows(task::pool& workers, std::vector<io::edge_block>& blocks,
                   const row_request& request) {
  CAIRN_EXPECTS(request.num_vertices <= std::uint64_t{1} << 48);
  CAIRN_EXPECTS(request.first <= request.last && request.last <= request.num_vertices);
  return row_builder<Id, W>(workers, blocks, request).build();
}

template csr<std::uint32_t> build_rows<std::uint32_t, unweighted>(task::pool&,
                                                                  std::vector<io::edge_block>&,
                                                                  const row_request&);
template csr<std::uint32_t> build_rows<std::uint32_t, std::int32_t>(task::pool&,
                                                                    std::vector<io::edge_block>&,
                                                                    const row_request&);
template csr<std::uint32_t> build_rows<std::uint32_t, double>(task::pool&,
                                                              std::vector<io::edge_block>&,
                                                              const row_request&);
template csr<std::uint64_t> build_rows<std::uint64_t, unweighted>(task::pool&,
                                                                  std::vector<io::edge_block>&,
                                                                  const row_request&);
template csr<std::uint64_t> build_rows<std::uint64_t, std::int32_t>(task::pool&,
                                                                    std::vector<io::edge_block>&,
                                                                    const row_request&);
template csr<std::uint64_t> build_rows<std::uint64_t, double>(task::pool&,
                                                              std::vector<io::edge_block>&,
                                                              const row_request&);

}  // namespace cairn::graph::detail
