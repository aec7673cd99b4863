// SPDX-License-Identifier: Apache-2.0
//
// [GMT14] table III: the cost of a context switch among 1 to 1,000,000 tasks of one worker, each of
// which switches 1 to 1,000 times; and among fibers of Boost.Fiber.
//
// A pass starts all tasks; the same pass without switches is subtracted, run by run. Cycles are
// those of a chain of dependent additions, which take one each.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#ifdef CAIRN_BENCH_BOOST_FIBER
#include <boost/fiber/fiber.hpp>
#include <boost/fiber/operations.hpp>
#endif

#include <cairn/task/when_all.hpp>
#include <cairn/task/yield.hpp>

#include <bench/figures/figure.hpp>

namespace cairn::bench {
namespace {

struct switch_sweep {
  std::vector<std::uint64_t> tasks{1, 8, 64, 1024, 1'000'000};
  std::vector<std::uint64_t> switches{1, 100, 1000};
  std::uint64_t max_switches = 20'000'000;  // switches in a pass
};

task::task<> switch_some(std::uint64_t times, std::uint64_t* done) {
  for (std::uint64_t i = 0; i < times; ++i) co_await task::yield();
  *done += times;
}
task::task<> switch_all(std::uint64_t tasks, std::uint64_t times, std::uint64_t* done) {
  std::vector<task::task<>> all;
  all.reserve(tasks);
  for (std::uint64_t i = 0; i < tasks; ++i) all.push_back(switch_some(times, done));
  co_await task::when_all(std::move(all));
}

#ifdef CAIRN_BENCH_BOOST_FIBER
constexpr std::uint64_t max_fibers = 1024;  // each has a stack

std::uint64_t switch_fibers(std::uint64_t fibers, std::uint64_t times) {
  std::uint64_t done = 0;
  std::vector<boost::fibers::fiber> all;
  all.reserve(fibers);
  for (std::uint64_t i = 0; i < fibers; ++i) {
    all.emplace_back(boost::fibers::launch::post, [&done, times] {
      for (std::uint64_t k = 0; k < times; ++k) boost::this_fiber::yield();
      done += times;
    });
  }
  for (auto& f : all) f.join();
  return done;
}
#endif

/// `repeats` times the pass, so that a run is long enough to be measured.
template <class Pass>
subject subject_of(const std::string& name, std::uint64_t tasks, std::uint64_t times,
                   std::uint64_t repeats, Pass pass) {
  kernel<int, std::uint64_t> kern;
  kern.name = name;
  kern.settings = {{"tasks", tasks}, {"switches", times}, {"repeats", repeats}};
  kern.make_input = [] { return 0; };
  kern.run = [=](int) {
    std::uint64_t done = 0;
    for (std::uint64_t i = 0; i < repeats; ++i) done += pass(times);
    return done;
  };
  kern.verify = [=](int, std::uint64_t done) -> std::string {
    return done == repeats * tasks * times ? "" : "not every switch was made";
  };
  return subject(std::move(kern));
}

double cycles_per_ns(const hw::clock& clock) {
  double best = 0;
  for (int i = 0; i < 20; ++i) {
    constexpr std::uint64_t additions = 1'000'000;
    std::uint64_t x = 1;
    const auto start = clock.now_ns();
    for (std::uint64_t k = 0; k < additions; ++k) asm volatile("" : "+r"(x = x + k));
    best = std::max(best, double{additions} / static_cast<double>(clock.now_ns() - start));
  }
  return best;
}

using pass_function = std::function<std::uint64_t(std::uint64_t times)>;

struct contender {
  std::string by;
  pass_function pass;
};

/// All contenders, with switches and without, in turn.
void measure(harness& h, const std::vector<contender>& all, std::uint64_t tasks,
             std::uint64_t times, double cycles, const figure::record_function& record) {
  const auto repeats = std::max<std::uint64_t>(1, 100'000 / (tasks * times));
  std::vector<subject> subjects;
  std::vector<subject*> turns;
  for (const auto& c : all) {
    subjects.push_back(subject_of(c.by, tasks, times, repeats, c.pass));
    subjects.push_back(subject_of(c.by, tasks, 0, repeats, c.pass));
  }
  for (auto& x : subjects) turns.push_back(&x);
  const auto measured = h.measure_alternating(turns);
  for (std::size_t c = 0; c < all.size(); ++c) {
    const auto &with = measured[2 * c], &without = measured[2 * c + 1];
    std::vector<double> ns;
    for (std::size_t i = 0; i < with.seconds.size(); ++i) {
      const auto seconds = with.seconds[i] - without.seconds[i];
      ns.push_back(1e9 * seconds / static_cast<double>(repeats * tasks * times));
    }
    const auto found = summarise(ns);
    record({{"by", all[c].by},
            {"tasks", tasks},
            {"switches", times},
            {"ns", json_of(found)},
            {"cycles", found.median * cycles}});
  }
}

void sweep(harness& h, const switch_sweep& s, const figure::record_function& record) {
  const hw::steady_clock clock;
  const auto cycles = cycles_per_ns(clock);
  world w(1);
  for (const auto tasks : s.tasks) {
    std::vector<contender> all;
    all.push_back({"tasks", [&w, tasks](std::uint64_t n) {
                     std::uint64_t done = 0;
                     w.run(switch_all(tasks, n, &done));
                     return done;
                   }});
#ifdef CAIRN_BENCH_BOOST_FIBER
    if (tasks <= max_fibers) {
      all.push_back({"Boost.Fiber", [tasks](std::uint64_t n) { return switch_fibers(tasks, n); }});
    }
#endif
    for (const auto times : s.switches) {
      if (tasks * times <= s.max_switches) measure(h, all, tasks, times, cycles, record);
    }
  }
#ifndef CAIRN_BENCH_BOOST_FIBER
  record({{"no_boost_fiber", "Boost.Fiber was not found when this program was built"}});
#endif
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  using namespace cairn::bench;
  switch_sweep s;
  figure f;
  f.name = "gmt14_t3_switch";
  f.description = "[GMT14] table III: a context switch among many tasks.";
  f.add_options = [&](argument_list& arguments) {
    arguments.number("--tasks", s.tasks, {1, std::uint64_t{1} << 24}, "one or more");
    arguments.number("--switches", s.switches, {1, std::uint64_t{1} << 24}, "of a task");
    arguments.number("--max-switches", s.max_switches, {1, std::uint64_t{1} << 40},
                     "switches in a pass");
  };
  f.sweep = [&](harness& h, const figure::record_function& record) { sweep(h, s, record); };
  return run_figure(argc, argv, f);
}
