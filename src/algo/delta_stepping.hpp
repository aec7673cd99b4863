// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include <cairn/algo/sssp.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/traverse/weighted_rows.hpp>
#include <cairn/traverse/worklist.hpp>

#include "algo/group_choice.hpp"
#include "algo/search_range.hpp"
#include "algo/weights.hpp"

namespace cairn::algo {
namespace detail {

// The first bucket that is not empty, and the longest time of the last group.
struct bucket_and_time {
  struct value_type {
    std::uint64_t bucket, ns;
  };
  static constexpr value_type identity() { return {std::numeric_limits<std::uint64_t>::max(), 0}; }
  static constexpr value_type combine(const value_type& a, const value_type& b) {
    return {std::min(a.bucket, b.bucket), std::max(a.ns, b.ns)};
  }
};

}  // namespace detail

/// Delta-stepping [DC15, algorithm 2] with groups of buckets, each processed as if it were one.
///
/// grow      groups may have several buckets (group_choice.hpp)
/// Returns   the number of groups
/// Collective.
template <class Search>
std::uint64_t relax_by_buckets(Search& s, double delta, double longest, bool grow) {
  using range = typename Search::range;
  using distance = typename Search::distance_type;
  constexpr auto max_weight = traverse::no_weight<weight_of<distance>>;
  range light{-1, 0}, heavy{0, unreached<distance>};
  traverse::worklist<typename Search::entry> settled(s.w);
  const auto relax_light = [&](worker_t k, auto& batch) { s.expand(k, batch, light, &settled); };
  const auto relax_heavy = [&](std::span<const typename Search::entry> list) {
    constexpr std::size_t chunk = 64;
    am::epoch epoch(s.w);
    s.w.parallel_for(
        list.size(),
        [&](worker_t k, std::size_t begin, std::size_t end) {
          s.expand_again(k, list.subspan(begin, end - begin), heavy);
        },
        chunk);
    epoch.close();
  };
  group_choice group;
  for (std::uint64_t groups = 0, ns = 0;; ++groups) {
    const auto all = s.w.template reduce<detail::bucket_and_time>({s.work.first_bucket(), ns});
    if (all.bucket == s.work.none) return groups;
    if (grow && groups > 0) group.took(all.ns);
    const auto width = delta * static_cast<double>(group.size());
    light.to = static_cast<distance>(std::min(width, static_cast<double>(max_weight)));
    heavy.from = weight_within(light.to);
    const auto start_ns = s.w.clock().now_ns();
    const auto end =
        s.work.none - group.size() > all.bucket ? all.bucket + group.size() : s.work.none;
    s.work.run(relax_light, end);
    const auto list = settled.take();
    if (longest > width) relax_heavy(list);
    ns = s.w.clock().now_ns() - start_ns;
  }
}

}  // namespace cairn::algo
