// SPDX-License-Identifier: Apache-2.0
//
// Additions by all workers to shared counters. Flat combining ([Hendler10]), where one worker at a
// time executes the requests of all, is compared with atomics; so are bins by owner and per-worker
// partials. Few elements are contended counters; many elements, drawn like the targets of a
// Kronecker graph's edges, resemble PageRank. With `--workers` above the number of cores it
// measures waiting.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <cairn/am/epoch.hpp>
#include <cairn/base/aggregator.hpp>
#include <cairn/base/random.hpp>
#include <cairn/pgas/accumulator_map.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/task/spin_lock.hpp>

#include <bench/program.hpp>

namespace cairn::bench {
namespace {

using word = std::uint64_t;

/// Elements to add to, the same for all methods: uniform for few elements, else with the bit
/// probabilities of targets in a Kronecker graph.
std::vector<std::uint32_t> draw_targets(std::uint32_t elements, std::size_t n) {
  std::vector<std::uint32_t> targets(n);
  random64 draw(1);
  for (auto& t : targets) {
    if (elements <= 1024) {
      t = static_cast<std::uint32_t>(draw.below(elements));
      continue;
    }
    t = 0;
    for (std::uint32_t bit = 1; bit < elements; bit *= 2) t |= draw.below(100) < 24 ? bit : 0;
  }
  return targets;
}

/// A method: add(worker, targets) adds 1 to each target, on all workers concurrently; then
/// finish().
class variant {
 public:
  virtual ~variant() = default;
  virtual void add(worker_t k, std::span<const std::uint32_t> targets) = 0;
  virtual void finish() {}
};

class by_atomics final : public variant {
 public:
  explicit by_atomics(std::span<word> values) : values_(values) {}
  void add(worker_t, std::span<const std::uint32_t> targets) override {
    for (const auto t : targets) {
      std::atomic_ref(values_[t]).fetch_add(1, std::memory_order_relaxed);
    }
  }

 private:
  std::span<word> values_;
};

/// A worker writes up to `batch` additions into its record, publishes them and waits until they are
/// executed. If it gets the lock, it executes its own and all other published additions. The
/// paper's batch is 1.
class flat_combining final : public variant {
 public:
  flat_combining(std::span<word> values, int workers, std::size_t batch)
      : values_(values), records_(workers) {
    for (auto& r : records_) r.value.requests.resize(batch);
  }

  void add(worker_t k, std::span<const std::uint32_t> targets) override {
    auto& mine = records_[k];
    for (std::size_t i = 0; i < targets.size(); i += mine.size) {
      mine.size = std::min(mine.requests.size(), targets.size() - i);
      for (std::size_t j = 0; j < mine.size; ++j) mine.requests[j] = {targets[i + j], 1};
      mine.published.store(true, std::memory_order_release);
      while (mine.published.load(std::memory_order_acquire)) {
        if (lock_.try_lock()) {
          combine();
          lock_.unlock();
        } else {
          __builtin_ia32_pause();
        }
      }
    }
  }

 private:
  struct request {
    std::uint32_t target;
    word value;
  };
  struct record {
    std::vector<request> requests;
    std::size_t size = 0;
    std::atomic<bool> published{false};
  };

  void combine() {
    for (auto& r : records_) {
      if (!r.value.published.load(std::memory_order_acquire)) continue;
      for (std::size_t i = 0; i < r.value.size; ++i) {
        values_[r.value.requests[i].target] += r.value.requests[i].value;
      }
      r.value.published.store(false, std::memory_order_release);
    }
  }

  std::span<word> values_;
  task::per_worker<record> records_;
  task::spin_lock lock_;
};

class by_aggregator final : public variant {
 public:
  by_aggregator(world& w, std::span<word> values, pgas::accumulation method)
      : values_(values), sums_(w, {values.size(), 1}, {.method = method}) {}
  void add(worker_t k, std::span<const std::uint32_t> targets) override {
    sums_.accumulate(k, [&](auto add) {
      for (const auto t : targets) add(t, 1);
    });
  }
  void finish() override {
    sums_.collect([&](worker_t, std::uint64_t first, std::span<const word> totals) {
      for (std::size_t i = 0; i < totals.size(); ++i) values_[first + i] += totals[i];
    });
  }

 private:
  std::span<word> values_;
  pgas::accumulator_map<cairn::add<word>, std::uint32_t> sums_;
};

/// A world with the values, the additions, and one method.
struct stage {
  stage(int workers, std::uint32_t elements, std::size_t n)
      : w(workers), values(elements, 0), due(elements, 0), targets(draw_targets(elements, n)) {
    for (const auto t : targets) ++due[t];
  }

  std::uint64_t pass() {
    am::epoch epoch(w);
    w.pool().run([&](worker_t k) {
      const auto n = targets.size(), workers = static_cast<std::size_t>(w.workers());
      const auto at = static_cast<std::size_t>(k);
      const auto begin = n * at / workers, end = n * (at + 1) / workers;
      by->add(k, std::span(targets).subspan(begin, end - begin));
    });
    epoch.close();
    by->finish();
    return ++passes;
  }

  world w;
  std::vector<word> values, due;
  std::vector<std::uint32_t> targets;
  std::unique_ptr<variant> by;
  std::uint64_t passes = 0;
};

struct counting_options {
  std::vector<int> workers{1, 2};
  std::vector<std::uint32_t> elements{1, 16, 1024, 1u << 16, 1u << 20};
  std::size_t additions = 1u << 20;
};

using maker = std::function<std::unique_ptr<variant>(stage&)>;

subject subject_of(const std::string& name, const std::shared_ptr<stage>& on) {
  kernel<int, std::uint64_t> kern;
  kern.name = "shared_counters";
  kern.settings = {{"method", name}, {"workers", on->w.workers()}, {"elements", on->values.size()}};
  kern.item = "additions";
  kern.num_items = static_cast<double>(on->targets.size());
  kern.make_input = [] { return 0; };
  kern.run = [on](int&) { return on->pass(); };
  kern.verify = [on](const int&, std::uint64_t passes) -> std::string {
    for (std::size_t i = 0; i < on->values.size(); ++i) {
      if (on->values[i] != on->due[i] * passes) return "a counter has a wrong value";
    }
    return "";
  };
  return subject(std::move(kern));
}

subject made_by(const std::string& name, const counting_options& options, int workers,
                std::uint32_t elements, const maker& make) {
  const auto on = std::make_shared<stage>(workers, elements, options.additions);
  on->by = make(*on);
  return subject_of(name, on);
}

void measure(harness& h, const counting_options& options, int workers, std::uint32_t elements) {
  const auto flat = [&](std::size_t batch) {
    return [=](stage& s) { return std::make_unique<flat_combining>(s.values, workers, batch); };
  };
  const auto aggregator = [](pgas::accumulation method) {
    return [=](stage& s) { return std::make_unique<by_aggregator>(s.w, s.values, method); };
  };
  const std::vector<std::pair<std::string, maker>> variants{
      {"flat combining", flat(1)},
      {"flat, 64 at once", flat(64)},
      {"flat, 1024 at once", flat(1024)},
      {"bins by owner", aggregator(pgas::accumulation::bins)},
      {"partials", aggregator(pgas::accumulation::partials)}};
  const auto ns = 1e9 / static_cast<double>(options.additions);
  for (const auto& [name, make] : variants) {
    auto atomics = made_by("atomics", options, workers, elements,
                           [](stage& s) { return std::make_unique<by_atomics>(s.values); });
    auto other = made_by(name, options, workers, elements, make);
    const auto c = h.compare(atomics, other);
    fmt::print(stderr, "{:>7} {:>9} {:<18} {:>9.2f} {:>9.2f} {:>8.3f} {:>7.3f}\n", workers,
               elements, name, c.first.time.median * ns, c.second.time.median * ns, c.ratio.median,
               c.ratio.mad);
  }
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  using namespace cairn::bench;
  counting_options options;
  return run_program(
      argc, argv,
      "The cost of an addition to shared counters, by flat combining and its alternatives.",
      [&](argument_list& arguments) {
        arguments.number("--workers", options.workers, {}, "one or more");
        arguments.number("--elements", options.elements, {}, "one or more");
        arguments.number("--additions", options.additions, {1, 1 << 30},
                         "of a call, by all workers");
      },
      [&](harness& h) {
        fmt::print(stderr, "{:>7} {:>9} {:<18} {:>9} {:>9} {:>8} {:>7}\n", "workers", "elements",
                   "method", "atomic ns", "ns", "ratio", "mad");
        for (const int k : options.workers) {
          for (const auto n : options.elements) measure(h, options, k, n);
        }
      });
}
