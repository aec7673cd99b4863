// SPDX-License-Identifier: Apache-2.0
#include "occurring_ids.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <functional>
#include <iterator>
#include <numeric>
#include <span>
#include <utility>

#include <cairn/core/world.hpp>
#include <cairn/task/parallel_for.hpp>

#include "graph/for_each_edge.hpp"

namespace cairn::graph {
namespace {

constexpr std::size_t slice_words = std::size_t{1} << 14;

using id_vector = std::vector<std::uint64_t>;

// Bitmaps of equal lengths.
struct union_of_bits {
  using value_type = std::vector<std::uint64_t>;
  static value_type identity() { return {}; }
  static value_type combine(const value_type& a, const value_type& b) {
    auto all = a;
    combine_into(all, b);
    return all;
  }
  static void combine_into(value_type& all, const value_type& more) {
    all.resize(std::max(all.size(), more.size()));
    std::ranges::transform(all, more, all.begin(), std::bit_or());
  }
};

id_vector united(const id_vector& a, const id_vector& b) {
  id_vector all;
  all.reserve(std::max(a.size(), b.size()));
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
  return all;
}

// Ascending ids. A gather would hold the ids of all ranks at once, most of them many times.
struct union_of_ids {
  using value_type = id_vector;
  static value_type identity() { return {}; }
  static value_type combine(const value_type& a, const value_type& b) { return united(a, b); }
};

// Adjacent lists are merged in rounds, each round in parallel.
id_vector united(task::pool& workers, std::vector<id_vector> parts) {
  while (parts.size() > 1) {
    std::vector<id_vector> halved((parts.size() + 1) / 2);
    task::parallel_for(workers, {.elements = halved.size(), .chunk = 1},
                       [&](worker_t, std::size_t begin, std::size_t end) {
                         for (auto i = begin; i < end; ++i) {
                           auto first = std::exchange(parts[2 * i], {});
                           halved[i] = 2 * i + 1 < parts.size()
                                           ? united(first, std::exchange(parts[2 * i + 1], {}))
                                           : std::move(first);
                         }
                       });
    parts = std::move(halved);
  }
  return parts.empty() ? id_vector() : std::move(parts.front());
}

id_vector ids_of(const io::edge_block& block) {
  id_vector ids;
  ids.reserve(2 * block.size());
  for_each_edge(block, [&](const auto& e) {
    ids.push_back(e.source);
    ids.push_back(e.target);
  });
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

}  // namespace

id_table::id_table(world& w, const io::raw_edges& edges, std::uint64_t largest)
    : table_(largest + 1) {
  // Bits are set before numbers are assigned: the bits of a large graph still fit a core's cache.
  std::vector<std::uint64_t> bits(largest / 64 + 1);
  const auto mark = [&](std::uint64_t id) {
    const std::atomic_ref<std::uint64_t> word(bits[id / 64]);
    const auto bit = std::uint64_t{1} << (id % 64);
    // Most ids occur many times; testing first avoids moving the line between workers' caches.
    if ((word.load(std::memory_order_relaxed) & bit) == 0) {
      word.fetch_or(bit, std::memory_order_relaxed);
    }
  };
  for_each_edge(w.pool(), edges, [&](const auto& e) {
    mark(e.source);
    mark(e.target);
  });
  if (w.size() > 1) unite(w, bits);
  number(w.pool(), bits);
}

void id_table::unite(world& w, std::vector<std::uint64_t>& bits) {
  for (std::size_t begin = 0; begin < bits.size(); begin += slice_words) {
    const std::span slice(bits.data() + begin, std::min(bits.size() - begin, slice_words));
    std::ranges::copy(w.reduce<union_of_bits>({slice.begin(), slice.end()}), slice.begin());
  }
}

void id_table::number(task::pool& workers, const std::vector<std::uint64_t>& bits) {
  std::vector<std::uint64_t> first((bits.size() + slice_words - 1) / slice_words + 1);
  const auto for_each_slice = [&](auto&& f) {
    task::parallel_for(workers, {.elements = first.size() - 1, .chunk = 1},
                       [&](worker_t, std::size_t slice, std::size_t) {
                         const auto begin = slice * slice_words;
                         f(slice, begin, std::min(bits.size(), begin + slice_words));
                       });
  };
  for_each_slice([&](std::size_t slice, std::size_t begin, std::size_t end) {
    for (auto i = begin; i < end; ++i) {
      first[slice + 1] += static_cast<std::uint64_t>(std::popcount(bits[i]));
    }
  });
  std::partial_sum(first.begin(), first.end(), first.begin());
  ids_.resize(first.back());
  for_each_slice([&](std::size_t slice, std::size_t begin, std::size_t end) {
    auto next = first[slice];
    for (auto i = begin; i < end; ++i) {
      for (auto left = bits[i]; left != 0; left &= left - 1) {
        const auto id = i * 64 + static_cast<std::uint64_t>(std::countr_zero(left));
        table_[id] = static_cast<std::uint32_t>(next);
        ids_[next++] = id;
      }
    }
  });
}

id_list::id_list(world& w, const io::raw_edges& edges) {
  std::vector<id_vector> parts(edges.blocks.size());
  task::parallel_for(w.pool(), {.elements = parts.size(), .chunk = 1},
                     [&](worker_t, std::size_t begin, std::size_t end) {
                       for (auto i = begin; i < end; ++i) parts[i] = ids_of(edges.blocks[i]);
                     });
  ids_ = united(w.pool(), std::move(parts));
  if (w.size() > 1) ids_ = w.reduce<union_of_ids>(ids_);
  build_index();
}

void id_list::build_index() {
  if (ids_.empty()) return;
  const auto width = static_cast<int>(std::bit_width(ids_.back()));
  const int index_bits = std::min(width, static_cast<int>(std::bit_width(ids_.size())));
  shift_ = width - index_bits;
  starts_.reserve((ids_.back() >> shift_) + 2);
  for (std::uint64_t i = 0; i < ids_.size(); ++i) {
    while (starts_.size() <= ids_[i] >> shift_) starts_.push_back(i);
  }
  starts_.push_back(ids_.size());
}

std::uint64_t id_list::operator()(std::uint64_t id) const noexcept {
  const auto bucket = id >> shift_;
  const auto* const first = ids_.data() + starts_[bucket];
  const auto* const last = ids_.data() + starts_[bucket + 1];
  return static_cast<std::uint64_t>(std::lower_bound(first, last, id) - ids_.data());
}

}  // namespace cairn::graph
