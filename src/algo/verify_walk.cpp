// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include <cairn/algo/walk.hpp>
#include <cairn/am/channel.hpp>
#include <cairn/am/request.hpp>
#include <cairn/base/random.hpp>
#include <cairn/pgas/accumulator.hpp>
#include <cairn/task/per_worker.hpp>
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
    std::uint64_t number = 0;
    Id at = 0, before = no_vertex<Id>, steps = 0;
  };
  // Asks whether `from` has an edge to `to`.
  struct question {
    Id from, to;
  };
  // A walker that has drawn an edge to `candidate` and waits for the answer.
  struct waiting {
    walker x;
    Id candidate;
    double chance;
  };
  struct waiting_list {
    std::vector<waiting> all;
    std::vector<std::size_t> free;
  };
  struct visit {  // also the message
    std::uint64_t walker;
    Id step, vertex;
  };

 public:
  recount(world& w, const graph::dist_csr<Id>& g, const walk_options& opt,
          const walk_paths<Id>* paths)
      : w_(w),
        g_(g),
        opt_(opt),
        paths_(paths),
        visits_(w, g.partition(), 0),
        waiting_(w.workers()),
        steps_(w),
        ended_early_(w),
        right_(w),
        arrivals_(w,
                  [this](worker_t k, std::span<const walker> batch) {
                    auto send = arrivals_.from(k);
                    for (const auto& x : batch) arrive(k, x, send);
                  }),
        seen_(w,
              [this](worker_t k, std::span<const visit> batch) {
                for (const auto& v : batch) compare_step(k, v);
              }),
        adjacent_(
            w, [this](worker_t, const question& q) { return has_edge(q); },
            [this](worker_t k, std::uint64_t slot, bool yes) { answered(k, slot, yes); }) {}

  // Runs all walks and returns their totals.
  walk_totals run() {
    const pgas::partition_view shares(opt_.walkers, w_.size());
    const auto first = shares.first(w_.rank()), mine = shares.size(w_.rank());
    traverse::push_ranges(
        w_, arrivals_, mine,
        [&](auto& send, worker_t, std::size_t begin, std::size_t end) -> std::uint64_t {
          for (auto i = first + begin; i < first + end; ++i) {
            walker x{random64(opt_.key).stream(i), i};
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

  // Whether the paths contain exactly the vertices of all visits. Collective.
  bool paths_are_right(const walk_totals& expected) {
    const auto& claimed = paths_->vertices;
    const auto missing = std::count(claimed.begin(), claimed.end(), no_vertex<Id>);
    const auto given = w_.sum(claimed.size() - static_cast<std::uint64_t>(missing));
    const auto visits = opt_.walkers + expected.steps;
    return right_.collect() == visits && given == visits;
  }

 private:
  void arrive(worker_t k, const walker& x, auto& send) {
    tm::cell_ref<std::uint64_t, tm::atomic_access>(visits_.at(x.at).element()).add(1);
    if (paths_ != nullptr) {
      seen_.send(k, paths_->walkers.owner(x.number), {x.number, x.steps, x.at});
    }
    if (x.steps == opt_.length) return;
    const auto row = g_.out().neighbors(x.at);
    if (row.empty()) {
      ended_early_.accumulate(k, std::uint64_t{1});
    } else if (x.before == no_vertex<Id> || !opt_.biased()) {
      auto drawn = x;
      const auto to = row[drawn.draws.below(row.size())];
      follow(k, drawn, to, send);
    } else {
      draw_edge(k, x, send);
    }
  }

  void follow(worker_t k, walker x, Id to, auto& send) {
    x.before = x.at;
    x.at = to;
    ++x.steps;
    steps_.accumulate(k, std::uint64_t{1});
    w_.counters().add(k, obs::counter::edges, 1);
    send(visits_.owner(to), x);
  }

  // Begins a second-order step. It ends with a question about the edges of the previous vertex,
  // unless the walker returns to it.
  void draw_edge(worker_t k, walker x, auto& send) {
    const auto row = g_.out().neighbors(x.at);
    const auto same = static_cast<std::uint64_t>(std::ranges::count(row, x.before));
    if (same == row.size()) return follow(k, x, x.before, send);
    const auto back = static_cast<double>(same);
    const auto others = static_cast<double>(row.size() - same);
    if (x.draws.uniform() < back / (back + others * (opt_.p * std::max(1 / opt_.q, 1.0)))) {
      return follow(k, x, x.before, send);
    }
    auto place = x.draws.below(row.size() - same);
    if (row[place] >= x.before) place += same;
    const auto chance = x.draws.uniform();
    auto& list = waiting_[k];
    if (list.free.empty()) {
      list.free.push_back(list.all.size());
      list.all.emplace_back();
    }
    const auto slot = list.free.back();
    list.free.pop_back();
    list.all[slot] = {x, row[place], chance};
    adjacent_.from(k)(visits_.owner(x.before), {x.before, row[place]}, am::slot(slot));
  }

  void answered(worker_t k, std::uint64_t slot, bool yes) {
    const auto [x, candidate, chance] = waiting_[k].all[slot];
    waiting_[k].free.push_back(slot);
    auto send = arrivals_.from(k);
    if (chance < std::min(1.0, yes ? opt_.q : 1 / opt_.q)) {
      follow(k, x, candidate, send);
    } else {
      draw_edge(k, x, send);
    }
  }

  [[nodiscard]] bool has_edge(const question& q) const {
    const auto row = g_.out().neighbors(q.from);
    const auto at = std::ranges::lower_bound(row, q.to);
    return at != row.end() && *at == q.to;
  }

  void compare_step(worker_t k, const visit& v) {
    if (v.step >= paths_->row_size) return;
    const auto at = (v.walker - paths_->first) * paths_->row_size + v.step;
    if (paths_->vertices[at] == v.vertex) right_.accumulate(k, std::uint64_t{1});
  }

  world& w_;
  const graph::dist_csr<Id>& g_;
  const walk_options opt_;
  const walk_paths<Id>* const paths_;
  pgas::vertex_map<std::uint64_t> visits_;
  task::per_worker<waiting_list> waiting_;
  pgas::accumulator<add<std::uint64_t>> steps_, ended_early_, right_;
  am::channel<walker> arrivals_;
  am::channel<visit> seen_;
  am::request<question, bool> adjacent_;
};

}  // namespace

template <class Id>
std::optional<std::string> verify_walk(world& w, const graph::dist_csr<Id>& g,
                                       const walk_options& opt,
                                       const pgas::vertex_map<std::uint64_t>& visits,
                                       const std::optional<walk_totals>& totals,
                                       const walk_paths<Id>* paths) {
  expect_walk_options(opt, g.num_vertices());
  recount<Id> again(w, g, opt, paths);
  const auto expected = again.run();
  if (const auto wrong = again.compare(visits); wrong.vertex != no_vertex<std::uint64_t>) {
    return "vertex " + g.labels().text_of(wrong.vertex) + " has " + std::to_string(wrong.visits) +
           " visits, expected " + std::to_string(wrong.expected);
  }
  if (totals && *totals != expected) {
    return "the walkers took " + std::to_string(totals->steps) + " steps and " +
           std::to_string(totals->ended_early) + " ended early, expected " +
           std::to_string(expected.steps) + " and " + std::to_string(expected.ended_early);
  }
  if (paths == nullptr || again.paths_are_right(expected)) return std::nullopt;
  return "the vertices of a path differ from those that its walker visits";
}

template std::optional<std::string> verify_walk(world&, const graph::dist_csr<std::uint32_t>&,
                                                const walk_options&,
                                                const pgas::vertex_map<std::uint64_t>&,
                                                const std::optional<walk_totals>&,
                                                const walk_paths<std::uint32_t>*);
template std::optional<std::string> verify_walk(world&, const graph::dist_csr<std::uint64_t>&,
                                                const walk_options&,
                                                const pgas::vertex_map<std::uint64_t>&,
                                                const std::optional<walk_totals>&,
                                                const walk_paths<std::uint64_t>*);

}  // namespace cairn::algo
