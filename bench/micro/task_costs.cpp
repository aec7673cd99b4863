// SPDX-License-Identifier: Apache-2.0
//
// The costs of tasks on one worker: a switch among 1,024 tasks, the start of a task, and the memory
// of a live task. Also a pointer chase by 64 tasks that prefetch, against the same chases one at a
// time, over a table larger than the caches and over a table that fits the first cache.
//
//   task_costs --threads 1 --scale 26

#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <cairn/base/error.hpp>
#include <cairn/base/random.hpp>
#include <cairn/hw/pages.hpp>
#include <cairn/task/future.hpp>
#include <cairn/task/prefetch.hpp>
#include <cairn/task/when_all.hpp>
#include <cairn/task/yield.hpp>

#include <bench/program.hpp>

namespace cairn::bench {
namespace {

template <class T>
using coroutine = task::task<T>;

coroutine<void> yields(std::uint64_t times, std::uint64_t* switches) {
  for (std::uint64_t i = 0; i < times; ++i) co_await task::yield();
  *switches += times;
}

coroutine<void> many_yield(std::uint64_t tasks, std::uint64_t times, std::uint64_t* switches) {
  std::vector<coroutine<void>> all;
  for (std::uint64_t i = 0; i < tasks; ++i) all.push_back(yields(times, switches));
  co_await task::when_all(std::move(all));
}

coroutine<void> adds(std::uint64_t x, std::uint64_t* sum) {
  *sum += x;
  co_return;
}

// Starts each task by itself; tasks that have ended free memory for others.
coroutine<void> many_start(std::uint64_t tasks, std::uint64_t* sum) {
  std::vector<task::future<void>> some(256);
  for (std::uint64_t i = 0; i < tasks; i += some.size()) {
    for (std::uint64_t k = 0; k < some.size(); ++k) {
      some[k] = co_await task::spawn(adds(i + k, sum));
    }
    for (auto& f : some) co_await f;
  }
}

struct memory_use {
  std::uint64_t sum = 0;
  std::size_t bytes = 0;
};
coroutine<void> many_live(world* w, std::uint64_t tasks, memory_use* use) {
  std::vector<coroutine<void>> all;
  all.reserve(tasks);
  for (std::uint64_t i = 0; i < tasks; ++i) all.push_back(adds(i, &use->sum));
  use->bytes = w->tasks().frame_bytes() + tasks * sizeof(coroutine<void>);
  co_await task::when_all(std::move(all));
}

/// A random cycle through a table, so that each load depends on the one before.
struct cycle {
  hw::pages memory;
  std::uint64_t n;

  explicit cycle(std::uint64_t size) : memory(size * sizeof(std::uint32_t)), n(size) {
    std::vector<std::uint32_t> order(n);
    std::iota(order.begin(), order.end(), 0u);
    random64 random(1);
    for (auto i = n - 1; i > 0; --i) std::swap(order[i], order[random.below(i + 1)]);
    for (std::uint64_t i = 0; i < n; ++i) next()[order[i]] = order[(i + 1) % n];
  }
  [[nodiscard]] std::uint32_t* next() const { return static_cast<std::uint32_t*>(memory.data()); }
};

std::uint64_t chase(const std::uint32_t* next, std::uint32_t at, std::uint64_t steps) {
  for (; steps > 0; --steps) at = next[at];
  return at;
}
coroutine<std::uint64_t> chase_by_task(const std::uint32_t* next, std::uint32_t at,
                                       std::uint64_t steps) {
  for (; steps > 0; --steps) {
    co_await task::prefetch(&next[at]);
    at = next[at];
  }
  co_return at;
}

coroutine<std::uint64_t> chase_by_tasks(const cycle* c, std::uint64_t chases, std::uint64_t steps) {
  std::vector<coroutine<std::uint64_t>> all;
  for (std::uint64_t i = 0; i < chases; ++i) {
    all.push_back(chase_by_task(c->next(), static_cast<std::uint32_t>(i * (c->n / chases)), steps));
  }
  const auto ends = co_await task::when_all(std::move(all));
  std::uint64_t sum = 0;
  for (const auto x : ends) sum += x;
  co_return sum;
}
std::uint64_t chase_by_loop(const cycle& c, std::uint64_t chases, std::uint64_t steps) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < chases; ++i) {
    sum += chase(c.next(), static_cast<std::uint32_t>(i * (c.n / chases)), steps);
  }
  return sum;
}

kernel<std::uint64_t, std::uint64_t> counted(std::string name, std::string item, double items) {
  kernel<std::uint64_t, std::uint64_t> kern;
  kern.name = std::move(name);
  kern.item = std::move(item);
  kern.num_items = items;
  kern.make_input = [] { return std::uint64_t{0}; };
  return kern;
}

void report(const std::string& kernel_name, const measurement& m, double items) {
  fmt::print(stderr, "{:<28} {:>8.2f} ns  mad {:>6.2f}  {} runs\n", kernel_name,
             m.time.median / items * 1e9, m.time.mad / items * 1e9, m.time.runs);
}

void measure_switches(world& w, harness& h) {
  constexpr std::uint64_t tasks = 1024, times = 1000;
  auto kern = counted("task_switch", "switches", static_cast<double>(tasks * times));
  kern.settings = {{"tasks", tasks}};
  kern.run = [&w](std::uint64_t&) {
    std::uint64_t switches = 0;
    w.run(many_yield(tasks, times, &switches));
    return switches;
  };
  kern.verify = [](std::uint64_t, std::uint64_t switches) -> std::string {
    return switches == tasks * times ? "" : "tasks were not resumed as often as they yielded";
  };
  subject s(std::move(kern));
  report("switch among 1,024 tasks", h.measure(s), static_cast<double>(tasks * times));
}

void measure_starts(world& w, harness& h) {
  constexpr std::uint64_t tasks = 1 << 20;
  auto kern = counted("task_start", "tasks", static_cast<double>(tasks));
  kern.run = [&w](std::uint64_t&) {
    std::uint64_t sum = 0;
    w.run(many_start(tasks, &sum));
    return sum;
  };
  kern.verify = [](std::uint64_t, std::uint64_t sum) -> std::string {
    return sum == tasks * (tasks - 1) / 2 ? "" : "not every task ran once";
  };
  subject s(std::move(kern));
  report("spawn, run, await", h.measure(s), static_cast<double>(tasks));
}

void measure_memory(world& w, harness& h) {
  constexpr std::uint64_t tasks = 1'000'000;
  memory_use use;
  w.run(many_live(&w, tasks, &use));
  const auto each = static_cast<double>(use.bytes) / static_cast<double>(tasks);
  h.write({{"kernel", "task_memory"}, {"tasks", tasks}, {"bytes_per_task", each}});
  fmt::print(stderr, "{:<28} {:>8.1f} bytes\n", "one of 1,000,000 live tasks", each);
}

constexpr std::uint64_t num_chases = 64, num_steps = 20'000;

void measure_chases(world& w, harness& h, int scale) {
  const auto c = std::make_shared<cycle>(std::uint64_t{1} << scale);
  const auto named = [&](const char* method) {
    auto kern = counted(std::string("chase_") + method, "loads",
                        static_cast<double>(num_chases * num_steps));
    kern.settings = {{"scale", scale}, {"chases", num_chases}};
    kern.verify = [c](std::uint64_t, std::uint64_t sum) -> std::string {
      return sum == chase_by_loop(*c, num_chases, num_steps) ? "" : "the chases ended elsewhere";
    };
    return kern;
  };
  auto loop = named("loop"), tasks = named("tasks");
  loop.run = [c](std::uint64_t&) { return chase_by_loop(*c, num_chases, num_steps); };
  tasks.run = [c, &w](std::uint64_t&) {
    return w.run(chase_by_tasks(c.get(), num_chases, num_steps));
  };
  subject first(std::move(loop)), second(std::move(tasks));
  const auto both = h.compare(first, second);
  const auto loads = static_cast<double>(num_chases * num_steps);
  report(fmt::format("chase of 2^{}, loop", scale), both.first, loads);
  report(fmt::format("chase of 2^{}, tasks", scale), both.second, loads);
  fmt::print(stderr, "{:<28} {:>8.2f}     mad {:>6.2f}\n", "loop / tasks", both.ratio.median,
             both.ratio.mad);
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  int scale = 24;
  return cairn::bench::run_program_on_ranks(
      argc, argv, "The costs of tasks on one worker.",
      [&](cairn::bench::argument_list& arguments) {
        arguments.number("--scale", scale, {10, 30}, "Elements of the larger table: 2^SCALE");
      },
      [&](cairn::world& w, cairn::bench::harness& h) {
        if (w.workers() != 1) throw cairn::usage_error("costs on one worker need --threads 1");
        cairn::bench::measure_switches(w, h);
        cairn::bench::measure_starts(w, h);
        cairn::bench::measure_memory(w, h);
        cairn::bench::measure_chases(w, h, 12);
        cairn::bench::measure_chases(w, h, 17);
        cairn::bench::measure_chases(w, h, scale);
      });
}
