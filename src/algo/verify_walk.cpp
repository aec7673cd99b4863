// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <span>

#include <cairn/algo/walk.hpp>
#include <cairn/am/channel.hpp>
#include <cairn/base/random.hpp>
#include <cairn/pgas/accumulator.hpp>
#include <cairn/tm/cell.hpp>
#include <cairn/traverse/push.hpp>

namespace cairn::algo {
namespace {

struct violation {
  std::uint64_t vertex = no_vertex<std::uint64_t>;
  std::uint64_t visits = 0, expected = 0;
};

template <class Id>
class recount {
  struct walker {  // also the message
    random64 draws{0};
    Id at = 0, steps = 0;
  };

 public:
  recount(world& w, const graph::dist_csr<Id>& g, const walk_options& opt)
      : w_(w),
        g_(g),
        opt_(opt),
        visits_(w, g.partition(), 0),
        steps_(w),
        ended_early_(w),
        arrivals_(w, [this](worker_t k, std::span<const walker> batch) {
          auto send = arrivals_.from(k);
          for (const auto& x : batch) arrive(k, x, send);
        }) {}

  // Returns what all walkers did.
  walk_totals run() {
    const pgas::partition_view shares(opt_.walkers, w_.size());
    const auto first = shares.first(w_.rank()), mine = shares.size(w_.rank());
    traverse::push_ranges(
        w_, arrivals_, mine,
        [&](auto& send, worker_t, std::size_t begin, std::size_t end) -> std::uint64_t {
          for (auto i = first + begin; i < first + end; ++i) {
            walker x{random64(opt_.key, i)};
            x.at = static_cast<Id>(x.draws.below(g_.num_vertices()));
            send(visits_.owner(x.at), x);
          }
          return 0;
        },
        traverse::chunk_of(w_, mine, 20));
    const auto steps = steps_.collect();
    return {steps, ended_early_.collect()};
  }

  // The smallest vertex whose visits differ. Collective.
  violation compare(const pgas::vertex_map<std::uint64_t>& claimed) {
    violation mine;
    const std::span<const std::uint64_t> expected = visits_.local(), found = claimed.local();
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (found[i] == expected[i]) continue;
      mine = {visits_.first() + i, found[i], expected[i]};
      break;
    }
    violation first;
    for (const auto& f : w_.all_gather(mine)) {
      if (f.vertex < first.vertex) first = f;
    }
    return first;
  }

 private:
  void arrive(worker_t k, walker x, auto& send) {
    tm::cell_ref<std::uint64_t, tm::atomic_access>(visits_.at(x.at).here()).add(1);
    if (x.steps == opt_.length) return;
    const auto row = g_.out().neighbors(x.at);
    if (row.empty()) {
      ended_early_.accumulate(k, std::uint64_t{1});
      return;
    }
    x.at = row[x.draws.below(row.size())];
    ++x.steps;
    steps_.accumulate(k, std::uint64_t{1});
    w_.counters().add(k, obs::counter::edges, 1);
    send(visits_.owner(x.at), x);
  }

  world& w_;
  const graph::dist_csr<Id>& g_;
  const walk_options opt_;
  pgas::vertex_map<std::uint64_t> visits_;
  pgas::accumulator<add<std::uint64_t>> steps_, ended_early_;
  am::channel<walker> arrivals_;
};

}  // namespace

template <class Id>
std::optional<std::string> verify_walk(world& w, const graph::dist_csr<Id>& g,
                                       const walk_options& opt,
                                       const pgas::vertex_map<std::uint64_t>& visits,
                                       const std::optional<walk_totals>& totals) {
  CAIRN_EXPECTS(opt.walkers <= (g.num_vertices() == 0 ? 0 : std::uint64_t{1} << 63));
  CAIRN_EXPECTS(opt.length < std::uint64_t{1} << 32);
  recount<Id> again(w, g, opt);
  const auto expected = again.run();
  if (const auto wrong = again.compare(visits); wrong.vertex != no_vertex<std::uint64_t>) {
    return "vertex " + g.labels().text_of(wrong.vertex) + " has " + std::to_string(wrong.visits) +
           " visits, expected " + std::to_string(wrong.expected);
  }
  if (!totals || *totals == expected) return std::nullopt;
  return "the walkers took " + std::to_string(totals->steps) + " steps and " +
         std::to_string(totals->ended_early) + " ended early, expected " +
         std::to_string(expected.steps) + " and " + std::to_string(expected.ended_early);
}

template std::optional<std::string> verify_walk(world&, const graph::dist_csr<std::uint32_t>&,
                                                const walk_options&,
                                                const pgas::vertex_map<std::uint64_t>&,
                                                const std::optional<walk_totals>&);
template std::optional<std::string> verify_walk(world&, const graph::dist_csr<std::uint64_t>&,
                                                const walk_options&,
                                                const pgas::vertex_map<std::uint64_t>&,
                                                const std::optional<walk_totals>&);

}  // namespace cairn::algo
