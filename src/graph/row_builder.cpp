// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <graph/bucket_sorter.hpp>
#include <graph/row_builder.hpp>
#include <memory>
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

constexpr std::uint64_t max_buckets = 1024;  // the lines being filled of all buckets fit in L2
constexpr unsigned max_row_bits = 16;
constexpr auto unsorted = ~std::uint64_t{0};

/// Memory for lines, allocated in slabs of equal size by one worker. It is written and read once,
/// in order, so it uses small pages: a new huge page can cost ten times as much on virtual
/// machines.
template <class Line>
class slab_store {
 public:
  static constexpr std::size_t max_slab_lines = 768;  // 72 KiB of unweighted 32-bit arcs

  Line* take(std::size_t lines) {
    if (chunks_.empty() || room_ - used_ < lines) {
      room_ = std::max(lines, chunk_bytes / sizeof(Line));
      chunks_.push_back(std::make_unique_for_overwrite<Line[]>(room_));
      used_ = 0;
    }
    return chunks_.back().get() + std::exchange(used_, used_ + lines);
  }

 private:
  static constexpr std::size_t chunk_bytes = 2 * hw::huge_page_bytes;
  std::vector<std::unique_ptr<Line[]>> chunks_;
  std::size_t room_ = 0, used_ = 0;  // of the last chunk
};

template <class Id, class W>
class row_builder {
 public:
  row_builder(task::pool& workers, std::vector<io::edge_block>& blocks, const row_request& request)
      : pool_(workers),
        chunks_(blocks),
        request_(request),
        num_rows_(request.last - request.first),
        buffers_(workers.workers()) {}

  csr<Id> build() {
    choose_buckets();
    distribute_arcs();
    sort_buckets();
    return finish();
  }

 private:
  static constexpr bool weighted = !std::is_same_v<W, unweighted>;

  using line = arc_line<Id, W>;

  /// The full lines that a worker has distributed to a bucket, in slabs. The last slab has space
  /// for `room` more lines.
  struct full_lines {
    line* next = nullptr;
    std::size_t room = 0;
    std::vector<const line*> slabs;
  };
  /// The lines being filled are contiguous, apart from the full ones: the ends of slabs would all
  /// map to the same few cache sets.
  struct worker_buffers {
    std::vector<line> lines;
    std::vector<std::uint8_t> fill;
    std::vector<full_lines> full;
    slab_store<line> memory;
  };

  void choose_buckets() {
    const auto arcs = chunks_.num_edges() * (request_.arcs == direction::both ? 2 : 1);
    const auto wanted = std::clamp<std::uint64_t>(arcs / request_.bucket_arcs, 1, max_buckets);
    while (row_bits_ < max_row_bits && (num_rows_ >> row_bits_) > wanted) ++row_bits_;
    num_buckets_ = static_cast<std::size_t>((num_rows_ + row_mask()) >> row_bits_);
    // Partly filled slabs waste half a slab per bucket and worker; this keeps the waste below a
    // tenth.
    const auto share = arcs / line::arcs / (num_buckets_ + 1) / pool_.workers();
    slab_lines_ = std::clamp<std::size_t>(share / 5, 1, slab_store<line>::max_slab_lines);
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

  void distribute_arcs() {
    task::parallel_for(pool_, {.elements = chunks_.size(), .chunk = 1},
                       [&](worker_t k, std::size_t chunk, std::size_t) {
                         report_progress(k, 0, chunk, chunks_.size());
                         auto& mine = buffers_[k];
                         mine.lines.resize(num_buckets_);
                         mine.fill.resize(num_buckets_);
                         mine.full.resize(num_buckets_);
                         auto* const lines = mine.lines.data();
                         auto* const fill = mine.fill.data();
                         for_each_arc(chunk,
                                      [&](std::uint64_t row, Id target, [[maybe_unused]] W weight) {
                                        const auto b = static_cast<std::size_t>(row >> row_bits_);
                                        const std::size_t at = fill[b];
                                        auto& to = lines[b];
                                        to.targets[at] = target;
                                        to.rows[at] = static_cast<std::uint16_t>(row & row_mask());
                                        if constexpr (weighted) to.weights.at[at] = weight;
                                        fill[b] = static_cast<std::uint8_t>((at + 1) % line::arcs);
                                        if (at + 1 == line::arcs) append_line(mine, b);
                                      });
                         if (!request_.keep_blocks) chunks_.release(chunk);
                       });
    gather_runs();
  }

  // Each of the two passes is half of the work.
  void report_progress(worker_t k, double before, std::size_t done, std::size_t all) const {
    if (k != 0 || !request_.progress) return;
    request_.progress(before + static_cast<double>(done) / static_cast<double>(2 * all));
  }

  void append_line(worker_buffers& mine, std::size_t b) {
    auto& p = mine.full[b];
    if (p.room == 0) {
      p.next = mine.memory.take(slab_lines_);
      p.room = slab_lines_;
      p.slabs.push_back(p.next);
    }
    *p.next++ = mine.lines[b];
    --p.room;
  }

  void gather_runs() {
    runs_.resize(num_buckets_);
    begins_.assign(num_buckets_ + 1, 0);
    for (const auto& [from] : buffers_) {
      for (std::size_t b = 0; b < from.full.size(); ++b) {
        const auto& p = from.full[b];
        for (const auto* slab : p.slabs) runs_[b].push_back({slab, slab_lines_ * line::arcs});
        if (!p.slabs.empty()) runs_[b].back().size -= p.room * line::arcs;
        if (from.fill[b] != 0) runs_[b].push_back({&from.lines[b], from.fill[b]});
      }
    }
    for (std::size_t b = 0; b < num_buckets_; ++b) {
      begins_[b + 1] = begins_[b];
      for (const auto& run : runs_[b]) begins_[b + 1] += run.size;
    }
  }

  void sort_buckets() {
    const auto num_arcs = static_cast<std::size_t>(begins_.back());
    targets_ = hw::page_buffer<Id>(num_arcs);
    if constexpr (weighted) edges_ = hw::page_buffer<weighted_edge<Id, W>>(num_arcs);
    offsets_ = hw::page_buffer<std::uint64_t>(static_cast<std::size_t>(num_rows_) + 1);
    sizes_ = std::vector<std::atomic<std::uint64_t>>(num_buckets_);
    for (auto& size : sizes_) size.store(unsorted, std::memory_order_relaxed);
    const auto target_bits = static_cast<unsigned>(
        std::bit_width(std::max<std::uint64_t>(request_.num_vertices, 2) - 1));
    task::per_worker<bucket_sorter<Id, W>> sorters(pool_.workers());
    task::parallel_for(
        pool_, {.elements = num_buckets_, .chunk = 1}, [&](worker_t k, std::size_t b, std::size_t) {
          report_progress(k, 0.5, b, num_buckets_);
          const auto size = sorters[k](bucket_at(b), target_bits, request_.drop_duplicates);
          drop_slabs(b);
          sizes_[b].store(size, std::memory_order_release);
          close_gaps();
        });
    close_gaps();
  }

  void drop_slabs(std::size_t b) {
    for (const auto& [from] : buffers_) {
      if (from.full.empty()) continue;
      for (const auto* slab : from.full[b].slabs) {
        hw::drop_pages(const_cast<line*>(slab), slab_lines_ * sizeof(line));
      }
    }
  }

  bucket<Id, W> bucket_at(std::size_t b) {
    const auto first_row = static_cast<std::size_t>(b) << row_bits_;
    const auto at = static_cast<std::size_t>(begins_[b]);
    return {.runs = runs_[b],
            .targets = targets_.data() + at,
            .edges = weighted ? edges_.data() + at : nullptr,
            .offsets = offsets_.data() + first_row,
            .num_rows = std::min<std::size_t>(num_rows_ - first_row, row_mask() + 1)};
  }

  // Moves sorted buckets down in ascending order, while they are in cache, up to the first unsorted
  // bucket. A worker that finds the lock taken returns; a later caller continues.
  void close_gaps() {
    const std::unique_lock held(gap_lock_, std::try_to_lock);
    if (!held) return;
    for (; next_ < num_buckets_; ++next_) {
      const auto size = sizes_[next_].load(std::memory_order_acquire);
      if (size == unsorted) return;
      const auto part = bucket_at(next_);
      if (part.targets != targets_.data() + end_) {
        std::memmove(targets_.data() + end_, part.targets, size * sizeof(Id));
        if constexpr (weighted) {
          std::memmove(edges_.data() + end_, part.edges, size * sizeof *part.edges);
        }
      }
      for (std::size_t r = 0; r < part.num_rows; ++r) part.offsets[r] += end_;
      end_ += static_cast<std::size_t>(size);
    }
  }

  csr<Id> finish() {
    offsets_[static_cast<std::size_t>(num_rows_)] = end_;
    targets_.shrink(end_);
    weighted_edges<Id> edges;
    if constexpr (weighted) {
      edges_.shrink(end_);
      edges = array<weighted_edge<Id, W>>(std::move(edges_));
    }
    return {request_.first, array<std::uint64_t>(std::move(offsets_)),
            array<Id>(std::move(targets_)), std::move(edges)};
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
  std::size_t slab_lines_ = 0;
  task::per_worker<worker_buffers> buffers_;
  std::vector<std::vector<arc_run<Id, W>>> runs_;  // of each bucket, in the workers' slabs
  std::vector<std::uint64_t> begins_;              // arcs before bucket b, shape [buckets + 1]

  hw::page_buffer<Id> targets_;
  hw::page_buffer<weighted_edge<Id, W>> edges_;
  hw::page_buffer<std::uint64_t> offsets_;

  std::vector<std::atomic<std::uint64_t>> sizes_;  // of the sorted buckets
  task::spin_lock gap_lock_;
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
