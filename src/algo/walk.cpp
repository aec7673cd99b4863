// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>

#include <cairn/algo/walk.hpp>
#include <cairn/am/channel.hpp>
#include <cairn/base/random.hpp>
#include <cairn/pgas/accumulator.hpp>
#include <cairn/tm/cell.hpp>
#include <cairn/traverse/push.hpp>

#include "algo/second_order_walk.hpp"
#include "algo/walkers.hpp"

namespace cairn::algo {
namespace {

template <class Id>
class walking {
  struct walker {  // also the message
    random64 draws{0};
    Id at = 0, steps = 0;

    static walker of(std::uint64_t key, std::uint64_t number) {
      return {random64(key).stream(number)};
    }
  };
  static constexpr std::size_t group = 32;    // exceeds the number of cache misses in flight
  static constexpr Id max_local_steps = 256;  // then other messages are handled

 public:
  walking(world& w, const graph::dist_csr<Id>& g, const walk_options& opt)
      : w_(w),
        rows_(g.out().rows()),
        num_vertices_(g.num_vertices()),
        opt_(opt),
        visits_(w, g.partition(), 0),
        view_(visits_.view()),
        steps_(w),
        ended_early_(w),
        arrivals_(
            w, [view = view_](const walker& x) { return view.owner(x.at); },
            [this](worker_t k, std::span<const walker> batch) { handle(k, batch); }) {}

  walk_result<Id> run() {
    const pgas::partition_view shares(opt_.walkers, w_.size());
    const auto first = shares.first(w_.rank()), mine = shares.size(w_.rank());
    const auto ns_each =
        10.0 * static_cast<double>(std::min<std::uint64_t>(opt_.length, max_local_steps));
    traverse::push_ranges(
        w_, arrivals_, mine,
        [&](auto& send, worker_t k, std::size_t begin, std::size_t end) {
          return start(k, send, first + begin, first + end);
        },
        std::max(group, traverse::chunk_of(w_, mine, 10 + ns_each)));
    const auto steps = steps_.collect(), ended_early = ended_early_.collect();
    return {std::move(visits_),
            opt_.walkers,
            steps,
            ended_early,
            opt_.key,
            {activity::mechanism::plain, 1, "walkers are messages, not operators"}};
  }

 private:
  // Moves the walkers with numbers in [number, last) that start at this rank, and sends the others.
  std::uint64_t start(worker_t k, auto& send, std::uint64_t number, std::uint64_t last) {
    return advance(k, send,
                   walkers_from<walker>(number, last, opt_.key, num_vertices_, view_, send));
  }

  void handle(worker_t k, std::span<const walker> batch) {
    auto send = arrivals_.from(k);
    const auto steps = advance(k, send, walkers_of(batch));
    w_.counters().add(k, obs::counter::edges, steps);
  }

  // Walkers that a worker moves together.
  struct moving {
    std::array<walker, group> walkers;
    std::array<const Id*, group> edges;  // next edge of each walker
    std::size_t num = 0;
    std::uint64_t steps = 0, ended_early = 0;
  };

  // Moves walkers until each has stopped or been sent. next(x) assigns another walker of this rank,
  // or returns false. Returns the number of steps.
  template <class Next>
  std::uint64_t advance(worker_t k, auto& send, Next&& next) {
    moving m;
    for (;;) {
      for (; m.num < group && next(m.walkers[m.num]); ++m.num) prefetch(m.walkers[m.num].at);
      if (m.num == 0) break;
      choose_edges(m);
      follow_edges(m, send);
    }
    steps_.accumulate(k, m.steps);
    ended_early_.accumulate(k, m.ended_early);
    return m.steps;
  }

  [[gnu::always_inline]] void prefetch(Id v) const {
    rows_.prefetch_offset(v);
    __builtin_prefetch(&view_.element(v), 1);
  }

  // Counts the visits, and keeps the walkers that have a step left and an edge to take.
  void choose_edges(moving& m) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < m.num; ++i) {
      auto x = m.walkers[i];
      count_visit(view_.element(x.at));
      if (x.steps == opt_.length) continue;
      const auto row = rows_.neighbors(x.at);
      if (row.empty()) {
        ++m.ended_early;
        continue;
      }
      m.edges[kept] = row.data() + x.draws.below(row.size());
      __builtin_prefetch(m.edges[kept]);
      m.walkers[kept++] = x;
    }
    m.num = kept;
    m.steps += kept;
  }

  // Keeps the walkers that stay on this rank.
  void follow_edges(moving& m, auto& send) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < m.num; ++i) {
      auto x = m.walkers[i];
      x.at = *m.edges[i];
      if (++x.steps % max_local_steps == 0 || !view_.owns(x.at)) {
        send(view_.owner(x.at), x);
      } else {
        prefetch(x.at);
        m.walkers[kept++] = x;
      }
    }
    m.num = kept;
  }

  void count_visit(std::uint64_t& visits) const {
    if (w_.workers() == 1) {
      ++visits;
    } else {
      tm::cell_ref<std::uint64_t, tm::atomic_access>(visits).add(1);
    }
  }

  world& w_;
  const graph::row_view<Id> rows_;
  const std::uint64_t num_vertices_;
  const walk_options opt_;
  pgas::vertex_map<std::uint64_t> visits_;
  const pgas::vertex_view<std::uint64_t> view_;
  pgas::accumulator<add<std::uint64_t>> steps_, ended_early_;
  am::channel<walker> arrivals_;
};

}  // namespace

void expect_walk_options(const walk_options& opt, std::uint64_t num_vertices) {
  CAIRN_EXPECTS(opt.walkers <= (num_vertices == 0 ? 0 : std::uint64_t{1} << 63));
  CAIRN_EXPECTS(opt.length < std::uint64_t{1} << 32);
  CAIRN_EXPECTS(opt.p > 0 && std::isfinite(opt.p));
  CAIRN_EXPECTS(opt.q >= 1 / max_walk_bias && opt.q <= max_walk_bias);
}

template <class Id>
walk_result<Id> walk(world& w, const graph::dist_csr<Id>& g, const walk_options& opt) {
  expect_walk_options(opt, g.num_vertices());
  if (opt.biased() || opt.paths) return second_order_walk<Id>(w, g, opt).run();
  return walking<Id>(w, g, opt).run();
}

template walk_result<std::uint32_t> walk(world&, const graph::dist_csr<std::uint32_t>&,
                                         const walk_options&);
template walk_result<std::uint64_t> walk(world&, const graph::dist_csr<std::uint64_t>&,
                                         const walk_options&);

}  // namespace cairn::algo
