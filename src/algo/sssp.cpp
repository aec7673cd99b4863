// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>

#include <cairn/algo/sssp.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/base/error.hpp>
#include <cairn/traverse/heap_queue.hpp>
#include <cairn/traverse/worklist.hpp>

#include "algo/shortest_paths.hpp"

namespace cairn::algo {
namespace {

template <class Id, class Distance>
using by_buckets = shortest_paths<Id, Distance, traverse::bucket_queue>;
template <class Id, class Distance>
using by_heaps = shortest_paths<Id, Distance, traverse::heap_queue>;

constexpr auto keep_none = [](const auto&) {};

// Without waiting for others before the end.
template <class Search>
void relax_in_order(Search& s) {
  s.work.run([&](worker_t k, auto entries, auto next) {
    s.template expand<edges_of::any_weight>(k, entries, next, keep_none);
  });
}

// Returns the number of buckets.
template <class Search>
std::uint64_t relax_by_buckets(Search& s, double delta, bool has_heavy) {
  traverse::worklist<typename Search::entry> settled(s.w);
  const auto relax_light = [&](worker_t k, auto entries, auto next) {
    const auto settle = [&](const auto& e) { settled.add(k, e); };
    s.template expand<edges_of::light>(k, entries, next, settle, delta);
  };
  const auto relax_heavy = [&](std::span<const typename Search::entry> list) {
    constexpr std::size_t chunk = 64;
    am::epoch epoch(s.w);
    s.w.parallel_for(
        list.size(),
        [&](worker_t k, std::size_t begin, std::size_t end) {
          s.template expand<edges_of::heavy>(k, list.subspan(begin, end - begin), {}, keep_none,
                                             delta);
        },
        chunk);
    epoch.close();
  };
  for (std::uint64_t buckets = 0;; ++buckets) {
    const auto bucket = s.w.template reduce<minimum<std::uint64_t>>(s.work.least());
    if (bucket == Search::queue::none) return buckets;
    s.work.run(relax_light, bucket + 1);
    const auto list = settled.take();
    if (has_heavy) relax_heavy(list);
  }
}

// Nothing if a distance does not fit.
template <class Search>
auto result_of(Search& s, std::string_view algorithm, double delta, std::uint64_t buckets)
    -> std::optional<sssp_result<typename Search::distance_type>> {
  typename Search::count all;
  for (const auto& k : s.counts) {
    all.relaxations += k.value.relaxations;
    all.improvements += k.value.improvements;
    all.too_far = all.too_far || k.value.too_far;
  }
  if (s.w.any(all.too_far)) return std::nullopt;
  return sssp_result<typename Search::distance_type>{
      std::move(s.distance),     algorithm,          delta, buckets, s.w.sum(all.relaxations),
      s.w.sum(all.improvements), s.relaxations.ran()};
}

template <class Id, class Distance>
std::optional<sssp_result<Distance>> search(world& w, const graph::dist_csr<Id>& g, Id source,
                                            const sssp_options& opt, const edge_lengths& lengths) {
  if (opt.algorithm == sssp_method::distributed_control) {
    by_heaps<Id, Distance> s(w, g, opt.activity, lengths,
                             [] { return typename by_heaps<Id, Distance>::queue(); });
    s.start(source);
    relax_in_order(s);
    return result_of(s, word(opt.algorithm), 0, 0);
  }
  const bool chaotic = opt.algorithm == sssp_method::chaotic;
  const auto delta = opt.delta.value_or(lengths.delta);
  const auto width = chaotic ? HUGE_VAL : delta;
  by_buckets<Id, Distance> s(w, g, opt.activity, lengths,
                             [&] { return typename by_buckets<Id, Distance>::queue(w, width); });
  s.start(source);
  std::uint64_t buckets = 0;
  if (chaotic || w.size() == 1) {
    relax_in_order(s);
  } else {
    buckets = relax_by_buckets(s, delta, lengths.longest > delta);
  }
  const auto algorithm = word(chaotic ? sssp_method::chaotic : sssp_method::delta);
  return result_of(s, algorithm, chaotic ? 0 : delta, buckets);
}

}  // namespace

template <class Id>
sssp_found sssp(world& w, const graph::dist_csr<Id>& g, Id source, const sssp_options& opt,
                const edge_lengths& lengths) {
  CAIRN_EXPECTS(source < g.num_vertices());
  if (opt.delta && !(*opt.delta > 0 && std::isfinite(*opt.delta))) {
    throw usage_error("delta is " + std::to_string(*opt.delta) + ", expected 0 < delta < infinity");
  }
  if (g.out().template weighted_by<double>()) {
    return *search<Id, double>(w, g, source, opt, lengths);
  }
  if constexpr (std::is_same_v<Id, std::uint32_t>) {
    if (auto found = search<Id, std::uint32_t>(w, g, source, opt, lengths)) {
      return std::move(*found);
    }
  }
  return *search<Id, std::uint64_t>(w, g, source, opt, lengths);
}

template sssp_found sssp(world&, const graph::dist_csr<std::uint32_t>&, std::uint32_t,
                         const sssp_options&, const edge_lengths&);
template sssp_found sssp(world&, const graph::dist_csr<std::uint64_t>&, std::uint64_t,
                         const sssp_options&, const edge_lengths&);

}  // namespace cairn::algo
