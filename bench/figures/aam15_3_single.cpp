// SPDX-License-Identifier: Apache-2.0
//
// [AAM15] figure 3: activities on one vertex. Each thread marks one vertex 10 or 100 times (a to
// c), or increments its rank as often (d to f), by each mechanism and by an aggregator.
//
// A pass is 1000 repetitions on distinct vertices, in the same order on all threads. Threads
// conflict only while they progress at the same speed. The grain is 1 throughout.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <cairn/activity/executor.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/base/aggregator.hpp>
#include <cairn/pgas/accumulator_map.hpp>
#include <cairn/pgas/vertex_map.hpp>

#include <bench/figures/figure.hpp>

namespace cairn::bench {
namespace {

using activity::mechanism;
using obs::counter;
using word_map = pgas::vertex_map<std::uint64_t>;

constexpr std::size_t repetitions = 1000;

struct message_of {
  std::uint32_t vertex;
  std::uint64_t pass;
};

struct mark {
  using message = message_of;
  const word_map& words;

  auto cell(const message& m) const { return words.at(m.vertex); }
  bool attempt(auto word, const message& m) const {
    return word.claim(m.pass - 1, m.pass) == m.pass - 1;
  }
};

struct increment {
  using message = message_of;
  const word_map& words;

  auto cell(const message& m) const { return words.at(m.vertex); }
  void attempt(auto word, const message&) const { word.add(1); }
};

// For software transactions, which run only operators of several elements.
struct mark_in_stm {
  using message = message_of;
  const word_map& words;

  void elements(const message& m, auto&& each) const { each(words.at(m.vertex)); }
  bool attempt(auto& tx, const message& m) const {
    if (tx.read(words, m.vertex) == m.pass) return false;
    tx.write(words, m.vertex, m.pass);
    return true;
  }
};

struct increment_in_stm {
  using message = message_of;
  const word_map& words;

  void elements(const message& m, auto&& each) const { each(words.at(m.vertex)); }
  void attempt(auto& tx, const message& m) const {
    tx.write(words, m.vertex, tx.read(words, m.vertex) + 1);
  }
};

/// A world with its vertices. pass(): every worker does `operations` on each vertex.
class stage {
 public:
  explicit stage(int threads) : w(threads), words(w, {repetitions, 1}, 0) {}
  virtual ~stage() = default;
  stage(const stage&) = delete;
  stage& operator=(const stage&) = delete;

  std::uint64_t pass(int operations) {
    ++passes_;
    am::epoch epoch(w);
    w.pool().run([&](worker_t k) { work(k, operations, passes_); });
    epoch.close();
    end();
    return passes_;
  }

  world w;
  word_map words;

 private:
  virtual void work(worker_t k, int operations, std::uint64_t pass) = 0;
  virtual void end() {}

  std::uint64_t passes_ = 0;
};

template <class Op>
class by_operator final : public stage {
 public:
  by_operator(int threads, mechanism m) : stage(threads) {
    if constexpr (activity::single_cell<Op>) {
      op_ = std::make_unique<activity::executor<Op>>(w, Op{words}, activity::options{m, 1});
    } else {
      data_ = std::make_unique<activity::domain>(w, activity::options{m, 1});
      op_ = std::make_unique<activity::executor<Op>>(*data_, Op{words});
    }
  }

 private:
  void work(worker_t k, int operations, std::uint64_t pass) override {
    op_->spawn(k, [&](auto& send) {
      for (std::uint32_t v = 0; v < repetitions; ++v) {
        for (int i = 0; i < operations; ++i) send({v, pass});
      }
    });
  }

  std::unique_ptr<activity::domain> data_;
  std::unique_ptr<activity::executor<Op>> op_;
};

class by_aggregator final : public stage {
 public:
  explicit by_aggregator(int threads) : stage(threads), sums_(w, words.partition()) {}

 private:
  void work(worker_t k, int operations, std::uint64_t) override {
    sums_.accumulate(k, [&](auto add) {
      for (std::uint32_t v = 0; v < repetitions; ++v) {
        for (int i = 0; i < operations; ++i) {
          add(v, 1);
          asm volatile("" ::: "memory");  // prevents merging them into one addition
        }
      }
    });
  }
  void end() override {
    sums_.collect([&](worker_t, std::uint64_t first, std::span<const std::uint64_t> totals) {
      for (std::size_t i = 0; i < totals.size(); ++i) words.local()[first + i] += totals[i];
    });
  }

  pgas::accumulator_map<add<std::uint64_t>, std::uint32_t> sums_;
};

struct variant {
  std::string activity, mechanism;
  std::unique_ptr<stage> on;
};

std::vector<variant> variants_of(int threads, const std::string& activity, bool htm) {
  const bool marks = activity == "mark";
  std::vector<mechanism> singles{mechanism::atomics, mechanism::locks, mechanism::one_lock};
  if (htm) singles.push_back(mechanism::htm);
  std::vector<variant> variants;
  const auto put = [&](std::string_view name, std::unique_ptr<stage> on) {
    variants.push_back({activity, std::string(name), std::move(on)});
  };
  for (const auto m : singles) {
    if (marks) put(activity::name(m), std::make_unique<by_operator<mark>>(threads, m));
    if (!marks) put(activity::name(m), std::make_unique<by_operator<increment>>(threads, m));
  }
  const auto stm = mechanism::stm;
  if (marks) put("stm", std::make_unique<by_operator<mark_in_stm>>(threads, stm));
  if (!marks) put("stm", std::make_unique<by_operator<increment_in_stm>>(threads, stm));
  if (!marks) put("aggregator", std::make_unique<by_aggregator>(threads));
  return variants;
}

void measure(harness& h, const variant& by, int operations, const figure::record_function& record) {
  auto* const on = by.on.get();
  const auto threads = on->w.workers();
  const auto per_pass = static_cast<std::uint64_t>(threads) * static_cast<unsigned>(operations);
  const auto before = on->words.load(0);
  std::uint64_t calls = 0;
  kernel<stage*, std::uint64_t> kern;
  kern.name = "single_vertex_" + by.activity;
  kern.settings = {{"mechanism", by.mechanism}, {"threads", threads}, {"operations", operations}};
  kern.make_input = [on] { return on; };
  kern.run = [&](stage* s) { return ++calls, s->pass(operations); };
  kern.verify = [&](stage* s, std::uint64_t passes) -> std::string {
    const auto due = by.activity == "mark" ? passes : before + calls * per_pass;
    const auto all = s->words.local();
    const bool right = std::all_of(all.begin(), all.end(), [&](auto x) { return x == due; });
    return right ? "" : "a vertex has a wrong value";
  };
  subject s(std::move(kern));
  const auto count = [&](counter c) { return on->w.counters().total(c); };
  const auto aborts = [&] {
    return count(counter::aborts_conflict) + count(counter::aborts_capacity) +
           count(counter::aborts_explicit) + count(counter::aborts_other);
  };
  const auto attempts_before = count(counter::attempts), aborts_before = aborts();
  const auto time = h.measure(s).time;
  record({{"activity", by.activity},
          {"operations", operations},
          {"threads", threads},
          {"mechanism", by.mechanism},
          {"repetitions", repetitions},
          {"seconds", json_of(time)},
          {"attempts", count(counter::attempts) - attempts_before},
          {"aborts", aborts() - aborts_before}});
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  using namespace cairn::bench;
  auto threads = all_thread_counts();
  figure f;
  f.name = "aam15_3_single";
  f.description = "[AAM15] figure 3: marking and incrementing one vertex, by mechanism.";
  f.add_options = [&](argument_list& arguments) {
    arguments.number("--threads", threads, {1, 4096}, "one or more");
  };
  f.sweep = [&](harness& h, const figure::record_function& record) {
    const auto probe = cairn::hw::probe_transactions();
    for (const auto* const activity : {"mark", "increment"}) {
      for (const int t : threads) {
        for (const auto& by : variants_of(t, activity, probe.works)) {
          for (const int operations : {10, 100}) measure(h, by, operations, record);
        }
      }
    }
    if (!probe.works) record({{"no_htm", probe.reason}});
  };
  return run_figure(argc, argv, f);
}
