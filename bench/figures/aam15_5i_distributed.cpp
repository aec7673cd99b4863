// SPDX-License-Identifier: Apache-2.0
//
// [AAM15] figure 5i: distributed transactions by the ownership protocol. Each rank issues x
// transactions, each of which marks a own and b remote vertices drawn at random. Elements are
// claimed when the body first accesses them or, with --named, all together before.
//
// Also measured: transactions that follow a chain of vertices from rank to rank, where each vertex
// names the next, count how often a body restarts. And the protocol's state machine on ranks in
// lockstep shows that without back-off transactions may refuse each other forever.
//
//   aam15_5i_distributed --ranks 2 --threads 1

#include <cstdint>
#include <string>
#include <vector>

#include <cairn/am/epoch.hpp>
#include <cairn/base/error.hpp>
#include <cairn/base/random.hpp>
#include <cairn/dtx/transactions.hpp>

#include <bench/figures/figure.hpp>
#include <bench/figures/lockstep.hpp>
#include <bench/program.hpp>

namespace cairn::bench {
namespace {

struct marking_options {
  std::uint64_t vertices = 1u << 16;  // per rank
  std::vector<std::uint64_t> transactions{1'000, 10'000};
  std::vector<std::size_t> chains{1, 2, 4, 8};
  bool named = false;
};

struct scenario {
  std::uint64_t transactions;  // per rank
  std::size_t own, remote;
  // if not 0, instead: length of a chain in which consecutive vertices are on different ranks
  std::size_t chain = 0;

  [[nodiscard]] std::size_t elements() const { return chain > 0 ? chain : own + remote; }
};

struct vertex {
  std::uint64_t marks, next;
};

/// The marked vertices of all ranks, with the number of marks of each.
class marking {
 public:
  marking(world& w, const marking_options& options, const scenario& s)
      : world_(w),
        options_(options),
        scenario_(s),
        marks_(w, {options.vertices * static_cast<std::uint64_t>(w.size()), w.size()}, {}),
        data_(w),
        transactions_(data_, {}, marks_) {
    auto id = marks_.first();
    for (auto& v : marks_.local()) v.next = (id++ + options.vertices + 7) % marks_.size();
  }

  /// Returns   number of passes so far
  std::uint64_t pass() {
    am::epoch epoch(world_);
    world_.parallel_for(scenario_.transactions,
                        [&](worker_t k, std::size_t begin, std::size_t end) {
                          for (auto i = begin; i < end; ++i) issue(k, i);
                        });
    epoch.close();
    return ++passes_;
  }

  /// The error, the same on all ranks; empty if none.
  std::string fault_after(std::uint64_t passes) {
    std::uint64_t marked = 0, held = 0;
    for (const auto& v : marks_.local()) marked += v.marks;
    for (const auto m : marks_.local_markers()) held += m != dtx::free_marker ? 1 : 0;
    const auto expected = passes * scenario_.transactions * scenario_.elements() *
                          static_cast<std::uint64_t>(world_.size());
    const bool lost = world_.sum(marked) != expected, left = world_.sum(held) != 0;
    return lost ? "a mark was lost" : left ? "a marker is left" : "";
  }

 private:
  void issue(worker_t k, std::uint64_t i) {
    auto draw = random64(passes_ * static_cast<std::uint64_t>(world_.size()) +
                         static_cast<std::uint64_t>(world_.rank()))
                    .stream(i);
    const auto mine = options_.vertices;
    if (scenario_.chain > 0) {
      return transactions_.run(
          k, [this, first = draw.below(marks_.size()), chain = scenario_.chain](auto& tx) {
            auto v = first;
            for (std::size_t j = 0; j < chain; ++j) v = mark(tx, v);
          });
    }
    std::vector<std::uint64_t> chosen;
    for (std::size_t j = 0; j < scenario_.own; ++j) {
      chosen.push_back(marks_.first() + draw.below(mine));
    }
    for (std::size_t j = 0; j < scenario_.remote; ++j) {  // any vertex of another rank
      const auto away = mine + draw.below(marks_.size() - mine);
      chosen.push_back((marks_.first() + away) % marks_.size());
    }
    const auto mark_all = [this, chosen](auto& tx) {
      for (const auto v : chosen) static_cast<void>(mark(tx, v));
    };
    if (!options_.named) return transactions_.run(k, mark_all);
    transactions_.run(k, mark_all, [&](auto&& each) {
      for (const auto v : chosen) each(marks_.at(v));
    });
  }

  /// Returns   the next vertex of the chain
  std::uint64_t mark(auto& tx, std::uint64_t id) const {
    const vertex v = tx.read(marks_, id);
    tx.write(marks_, id, vertex{v.marks + 1, v.next});
    return v.next;
  }

  world& world_;
  marking_options options_;
  scenario scenario_;
  std::uint64_t passes_ = 0;
  dtx::owned_vertex_map<vertex> marks_;
  activity::domain data_;
  dtx::transactions<dtx::owned_vertex_map<vertex>> transactions_;
};

void measure(world& w, harness& h, const marking_options& options, const scenario& s,
             const figure::record_function& record) {
  using obs::counter;
  marking on(w, options, s);
  kernel<marking*, std::uint64_t> kern;
  kern.name = "distributed_transactions";
  kern.settings = {{"ranks", w.size()},
                   {"threads", w.workers()},
                   {"vertices", options.vertices},
                   {"transactions", s.transactions},
                   {"local", s.own},
                   {"remote", s.remote},
                   {"chain", s.chain},
                   {"named", options.named}};
  kern.item = "transactions";
  kern.num_items = static_cast<double>(s.transactions) * w.size();
  kern.make_input = [&on] { return &on; };
  std::uint64_t passes = 0;
  kern.run = [&passes](marking* m) { return passes = m->pass(); };
  kern.verify = [](marking* m, const std::uint64_t& done) { return m->fault_after(done); };
  kern.counters = [&w] { return counters_of_all(w); };
  subject subject(std::move(kern));
  const auto before = counters_of_all(w);
  const auto time = h.measure(subject).time;
  const auto after = counters_of_all(w);
  const auto grown = [&](counter c) {
    return after[static_cast<std::size_t>(c)] - before[static_cast<std::size_t>(c)];
  };
  const auto expected = passes * s.transactions * static_cast<std::uint64_t>(w.size());
  nlohmann::json point{{"threads", w.workers()},
                       {"ranks", w.size()},
                       {"transactions", s.transactions},
                       {"seconds", json_of(time)},
                       {"expected", expected},
                       {"commits", grown(counter::dtx_commits)},
                       {"restarts", grown(counter::dtx_restarts)},
                       {"refusals", grown(counter::dtx_refusals)}};
  if (s.chain > 0) {
    point["chain"] = s.chain;
  } else {
    point.update({{"local", s.own}, {"remote", s.remote}});
  }
  record(std::move(point));
}

/// With and without back-off, on ranks in lockstep: the longest of many simulations.
void show_refusals(world& w, const figure::record_function& record) {
  constexpr int max_turns = 10'000;
  constexpr std::uint64_t seeds = 1000;
  if (w.rank() != 0) return;
  for (const bool back_off : {false, true}) {
    for (const int ranks : {2, 3, 8}) {
      lockstep_result longest{0, true};
      // Without back-off nothing is random: one simulation suffices.
      for (std::uint64_t seed = 1; seed <= (back_off ? seeds : 1); ++seed) {
        const auto one = play_in_lockstep(ranks, {.first_ns = back_off ? 8u : 0u}, max_turns, seed);
        if (one.turns > longest.turns) longest = one;
      }
      record({{"back_off", back_off},
              {"ranks", ranks},
              {"plays", back_off ? seeds : 1},
              {"turns", longest.turns},
              {"ended", longest.ended}});
    }
  }
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  using namespace cairn::bench;
  marking_options options;
  figure f;
  f.name = "aam15_5i_distributed";
  f.description = "[AAM15] figure 5i: transactions over elements of several ranks.";
  f.add_options = [&](argument_list& arguments) {
    arguments.number("--vertices", options.vertices, {1, 1 << 30}, "of each rank");
    arguments.number("--transactions", options.transactions, {1, 1 << 30},
                     "of each rank, one or more");
    arguments.number("--chains", options.chains, {1, 1 << 10}, "vertices in a row, one or more");
    arguments.flag("--named", options.named, "elements are claimed together, beforehand");
  };
  f.sweep_on_ranks = [&](cairn::world& w, harness& h, const figure::record_function& record) {
    if (w.size() < 2) throw cairn::usage_error("figure 5i needs two ranks or more: --ranks 2");
    for (const auto x : options.transactions) measure(w, h, options, {x, 5, 1}, record);
    for (const auto x : options.transactions) measure(w, h, options, {x, 7, 3}, record);
    for (const auto chain : options.chains) {
      measure(w, h, options, {options.transactions.front(), 0, 0, chain}, record);
    }
    show_refusals(w, record);
  };
  return run_figure_on_ranks(argc, argv, f);
}
