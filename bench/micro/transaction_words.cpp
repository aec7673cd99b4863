// SPDX-License-Identifier: Apache-2.0
//
// The cost of a transaction of K random increments by each mechanism, on one thread: the cost of
// the mechanism itself, without contention. `atomics` makes each increment atomic but not the
// transaction. `plain` makes nothing atomic and is the baseline.

#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <cairn/base/random.hpp>
#include <cairn/hw/pages.hpp>
#include <cairn/hw/tm_probe.hpp>
#include <cairn/obs/counters.hpp>
#include <cairn/tm/cell.hpp>
#include <cairn/tm/fallback_lock.hpp>
#include <cairn/tm/hardware_section.hpp>
#include <cairn/tm/lock_table.hpp>
#include <cairn/tm/section.hpp>
#include <cairn/tm/versioned_section.hpp>

#include <bench/program.hpp>

namespace cairn::bench {
namespace {

constexpr std::size_t increments_per_call = 1u << 16;

using word = std::uint64_t;

/// The words, and which of them the transactions of a call increment, K at a time.
struct table {
  explicit table(std::size_t num_words) : words(num_words), picks(increments_per_call) {
    words.prefault();
    random64 random(1);
    for (auto& pick : picks) pick = static_cast<std::uint32_t>(random.below(num_words));
  }

  hw::page_buffer<word> words;
  std::vector<std::uint32_t> picks;
  std::uint64_t calls = 0;
};

struct no_relax {
  void operator()(unsigned) const noexcept {}
};

// Each mechanism has increment(words, picks, k): one transaction.

struct plain {
  static constexpr const char* name = "plain";
  void increment(word* words, const std::uint32_t* picks, std::size_t k) {
    for (std::size_t i = 0; i < k; ++i) {
      tm::cell_ref(words[picks[i]], tm::plain_access{}).add(1);
    }
  }
};

struct atomics {
  static constexpr const char* name = "atomics";
  void increment(word* words, const std::uint32_t* picks, std::size_t k) {
    for (std::size_t i = 0; i < k; ++i) {
      tm::cell_ref(words[picks[i]], tm::atomic_access{}).add(1);
    }
  }
};

struct locks {
  static constexpr const char* name = "locks";
  void increment(word* words, const std::uint32_t* picks, std::size_t k) {
    for (std::size_t i = 0; i < k; ++i) set.add(&words[picks[i]]);
    set.lock(no_relax{});
    for (std::size_t i = 0; i < k; ++i) {
      tm::cell_ref(words[picks[i]], tm::section_access{}).add(1);
    }
    set.unlock();
  }
  tm::lock_table all;
  tm::lock_set set{all};
};

struct one_lock {
  static constexpr const char* name = "one-lock";
  void increment(word* words, const std::uint32_t* picks, std::size_t k) {
    const tm::fallback_lock::guard held(all, no_relax{});
    for (std::size_t i = 0; i < k; ++i) {
      tm::cell_ref(words[picks[i]], tm::section_access{}).add(1);
    }
  }
  tm::fallback_lock all;
};

struct stm {
  static constexpr const char* name = "stm";
  void increment(word* words, const std::uint32_t* picks, std::size_t k) {
    const auto body = [=](auto access) __attribute__((always_inline)) {
      for (std::size_t i = 0; i < k; ++i) tm::cell_ref(words[picks[i]], access).add(1);
    };
    const auto end = runner.run(tm::unsubscribed{}, 1, body, [] {});
    if (end == tm::section_end::committed) return;
    runner.hardware().outside([&] { body(runner.hardware().cell_access()); });
  }
  using section = tm::versioned_section<tm::version_table<>, no_relax>;
  obs::counters counted{1};
  tm::version_table<> versions;
  tm::section_runner<section, no_relax> runner{
      section(versions, 0, {}), tm::retry_limits{}, 1, counted, main_worker, no_relax{}};
};

struct htm {
  static constexpr const char* name = "htm";
  void increment(word* words, const std::uint32_t* picks, std::size_t k) {
    const auto body = [=](auto access) __attribute__((always_inline)) {
      for (std::size_t i = 0; i < k; ++i) tm::cell_ref(words[picks[i]], access).add(1);
    };
    const auto pretouch = [=] {
      for (std::size_t i = 0; i < k; ++i) hw::touch_pages(&words[picks[i]], sizeof(word));
    };
    const auto end = runner.run(tm::subscribed(net), 1, body, pretouch);
    if (end == tm::section_end::committed) return;
    const tm::fallback_lock::guard alone(net, no_relax{});
    body(tm::section_access{});
  }
  obs::counters counted{1};
  tm::fallback_lock net;
  tm::section_runner<tm::rtm_hardware, no_relax> runner{
      tm::rtm_hardware{}, tm::retry_limits{}, 1, counted, main_worker, no_relax{}};
};

template <class Mechanism>
subject make_subject(std::size_t num_words, std::size_t k) {
  // Shared with the closures below, which the harness copies.
  const auto mechanism = std::make_shared<Mechanism>();
  kernel<table, std::uint64_t> kern;
  kern.name = "transaction_words";
  kern.settings = {{"mechanism", Mechanism::name}, {"words", k}, {"table_words", num_words}};
  kern.item = "transactions";
  kern.num_items = static_cast<double>(increments_per_call / k);
  kern.make_input = [num_words] { return table(num_words); };
  kern.run = [mechanism, k](table& t) {
    for (std::size_t i = 0; i + k <= increments_per_call; i += k) {
      mechanism->increment(t.words.data(), t.picks.data() + i, k);
    }
    return ++t.calls;
  };
  kern.verify = [k](const table& t, std::uint64_t calls) -> std::string {
    const auto sum = std::accumulate(t.words.begin(), t.words.end(), std::uint64_t{0});
    const auto expected = calls * (increments_per_call / k * k);
    return sum == expected ? "" : fmt::format("{} increments, {} expected", sum, expected);
  };
  if constexpr (requires { mechanism->counted; }) {
    kern.counters = [mechanism] { return mechanism->counted.totals(); };
  }
  return subject(std::move(kern));
}

template <class Mechanism>
void measure(harness& h, std::size_t num_words, const std::vector<std::size_t>& sizes) {
  for (const auto k : sizes) {
    auto s = make_subject<Mechanism>(num_words, k);
    const auto time = h.measure(s).time;
    const auto ns = 1e9 / s.num_items;
    fmt::print(stderr, "{:<10} {:>6} {:>10.1f} {:>8.1f} {:>6}\n", Mechanism::name, k,
               time.median * ns, time.mad * ns, time.runs);
  }
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  using namespace cairn;
  std::size_t num_words = 1u << 15;
  std::vector<std::size_t> sizes{1, 4, 16, 64};
  return bench::run_program(
      argc, argv, "The cost of a transaction of K random increments by each mechanism.",
      [&](bench::argument_list& arguments) {
        arguments.number("--table-words", num_words, {1u, 1u << 31}, "words to choose from");
        arguments.number("--words", sizes, {std::size_t{1}, bench::increments_per_call},
                         "K, one or more");
      },
      [&](bench::harness& h) {
        fmt::print(stderr, "{:<10} {:>6} {:>10} {:>8} {:>6}\n", "mechanism", "K", "ns", "mad",
                   "runs");
        bench::measure<bench::plain>(h, num_words, sizes);
        bench::measure<bench::atomics>(h, num_words, sizes);
        const auto probe = hw::probe_transactions();
        if (probe.works) {
          bench::measure<bench::htm>(h, num_words, sizes);
        } else {
          fmt::print(stderr, "htm        skipped: {}\n", probe.reason);
        }
        bench::measure<bench::locks>(h, num_words, sizes);
        bench::measure<bench::one_lock>(h, num_words, sizes);
        bench::measure<bench::stm>(h, num_words, sizes);
      });
}
