// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include <cairn/algo/walk.hpp>
#include <cairn/am/channel.hpp>
#include <cairn/base/random.hpp>

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
  using state = walk_state<Id>;

 public:
  walking(world& w, const graph::dist_csr<Id>& g, const walk_options& opt)
      : state_(w, g, opt),
        arrivals_(
            w, [view = state_.view](const walker& x) { return view.owner(x.at); },
            [this](worker_t k, std::span<const walker> batch) {
              state_.handle(*this, arrivals_, k, batch);
            }) {}

  walk_result<Id> run() { return state_.run(*this, arrivals_, 10); }

  /// As specified for walk_state.
  template <class Next>
  std::uint64_t advance(worker_t k, auto& send, Next&& next) {
    moving m(state_.visits.of(k));
    for (;;) {
      for (; m.num < state::group && next(m.walkers[m.num]); ++m.num) {
        state_.prefetch(m.walkers[m.num].at, m.visits);
      }
      if (m.num == 0) break;
      choose_edges(m);
      follow_edges(m, send);
    }
    state_.steps.accumulate(k, m.steps);
    state_.ended_early.accumulate(k, m.ended_early);
    return m.steps;
  }

 private:
  // Walkers that a worker moves together.
  struct moving {
    explicit moving(const typename state::counter& counts) : visits(counts) {}
    const typename state::counter visits;
    std::array<walker, state::group> walkers;
    std::array<const Id*, state::group> edges;  // next edge of each walker
    std::size_t num = 0;
    std::uint64_t steps = 0, ended_early = 0;
  };

  // Counts the visits, and keeps the walkers that have a step left and an edge to take.
  void choose_edges(moving& m) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < m.num; ++i) {
      auto x = m.walkers[i];
      m.visits.add(x.at);
      if (x.steps == state_.opt.length) continue;
      const auto row = state_.rows.neighbors(x.at);
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

  // Keeps the walkers that stay on this rank. A branch on the owner would be unpredictable.
  void follow_edges(moving& m, auto& send) {
    std::array<std::uint8_t, state::group> leaving;  // ascending
    std::size_t num_leaving = 0;
    for (std::size_t i = 0; i < m.num; ++i) {
      auto& x = m.walkers[i];
      x.at = *m.edges[i];
      const bool leaves = (++x.steps % state::max_local_steps == 0) | !state_.view.owns(x.at);
      leaving[num_leaving] = static_cast<std::uint8_t>(i);
      num_leaving += leaves ? 1 : 0;
    }
    while (num_leaving > 0) {
      auto& x = m.walkers[leaving[--num_leaving]];
      send(state_.view.owner(x.at), x);
      x = m.walkers[--m.num];
    }
    for (std::size_t i = 0; i < m.num; ++i) state_.prefetch(m.walkers[i].at, m.visits);
  }

  state state_;
  am::channel<walker> arrivals_;
};

}  // namespace

void expect_walk_options(const walk_options& opt, std::uint64_t num_vertices) {
  CAIRN_EXPECTS(opt.walkers <= (num_vertices == 0 ? 0 : std::uint64_t{1} << 63));
  CAIRN_EXPECTS(opt.length < std::uint64_t{1} << 32);
  CAIRN_EXPECTS(!opt.paths || opt.walkers <= (std::uint64_t{1} << 60) / (opt.length + 1),
                "the paths of all walkers have at most 2^60 vertices");
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
