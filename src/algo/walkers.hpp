// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <cairn/algo/walk.hpp>
#include <cairn/am/channel.hpp>
#include <cairn/base/random.hpp>
#include <cairn/pgas/accumulator.hpp>
#include <cairn/traverse/push.hpp>

#include "algo/visit_counts.hpp"

namespace cairn::algo {

/// The part of a walk that does not depend on how a walker chooses its edges.
///
/// A walk has advance(k, send, next), which moves walkers until each has stopped or been sent, and
/// returns the number of steps; next(x) assigns another walker of this rank to x, or returns false.
/// Walker::of(key, number) creates a walker.
///
/// Collective  constructor, destructor, run()
template <class Id>
struct walk_state {
  using counter = typename visit_counts<Id>::counter;
  static constexpr std::size_t group = 32;  // exceeds the number of cache misses in flight
  static constexpr std::uint32_t max_local_steps = 256;  // then other messages are handled

  walk_state(world& of, const graph::dist_csr<Id>& g, const walk_options& options)
      : w(of),
        rows(g.out().rows()),
        num_vertices(g.num_vertices()),
        opt(options),
        visits(w, g, static_cast<double>(opt.walkers) * static_cast<double>(opt.length)),
        view(visits.view()),
        steps(w),
        ended_early(w) {}

  /// Starts all walkers, and returns when they have stopped. Called once.
  template <class Walker>
  walk_result<Id> run(auto& walk, am::channel<Walker>& arrivals, double ns_per_step) {
    const pgas::partition_view shares(opt.walkers, w.size());
    const auto first = shares.first(w.rank()), mine = shares.size(w.rank());
    const auto ns_each =
        ns_per_step * static_cast<double>(std::min<std::uint64_t>(opt.length, max_local_steps));
    traverse::push_ranges(
        w, arrivals, mine,
        [&](auto& send, worker_t k, std::size_t begin, std::size_t end) {
          return walk.advance(k, send, starting_here<Walker>(first + begin, first + end, send));
        },
        std::max(group, traverse::chunk_of(w, mine, 10 + ns_each)));
    const auto all_steps = steps.collect(), all_ended_early = ended_early.collect();
    return {visits.take(), opt.walkers,
            all_steps,     all_ended_early,
            opt.key,       {activity::mechanism::plain, 1, "walkers are messages, not operators"}};
  }

  /// The handler of `arrivals`.
  template <class Walker>
  void handle(auto& walk, am::channel<Walker>& arrivals, worker_t k,
              std::span<const Walker> batch) {
    auto send = arrivals.from(k);
    const auto taken = walk.advance(k, send, [batch, i = std::size_t{0}](Walker& x) mutable {
      if (i == batch.size()) return false;
      x = batch[i++];
      return true;
    });
    w.counters().add(k, obs::counter::edges, taken);
  }

  /// Before v is visited.
  [[gnu::always_inline]] void prefetch(Id v, const counter& counts) const {
    rows.prefetch_offset(v);
    counts.prefetch(v);
  }

  world& w;
  const graph::row_view<Id> rows;
  const std::uint64_t num_vertices;
  const walk_options opt;
  visit_counts<Id> visits;
  const pgas::vertex_view<std::uint64_t> view;
  pgas::accumulator<add<std::uint64_t>> steps, ended_early;

 private:
  // The walkers with numbers in [number, last) that start at this rank. Sends the others.
  template <class Walker>
  auto starting_here(std::uint64_t number, std::uint64_t last, auto& send) const {
    return [number, last, key = opt.key, n = num_vertices, &to = view, &send](Walker& x) mutable {
      while (number < last) {
        x = Walker::of(key, number++);
        x.at = static_cast<Id>(x.draws.below(n));
        if (to.owns(x.at)) return true;
        send(to.owner(x.at), x);
      }
      return false;
    };
  }
};

}  // namespace cairn::algo
