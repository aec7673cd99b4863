// SPDX-License-Identifier: Apache-2.0
//
// Transfers between two random accounts of 16 bytes: the cost of a multi-cell operator by each
// mechanism, with many conflicts (few accounts) and with few (many accounts). With `--workers`
// above the number of cores it measures waiting.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <cairn/activity/executor.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/base/random.hpp>
#include <cairn/hw/tm_probe.hpp>
#include <cairn/pgas/vertex_map.hpp>

#include <bench/program.hpp>

namespace cairn::bench {
namespace {

using activity::mechanism;

constexpr std::uint64_t transfers_per_call = 1u << 17;

struct account {
  std::int64_t balance = 1000;
  std::uint64_t changes = 0;
};

struct transfer {
  struct message {
    std::uint32_t from, to;
  };
  const pgas::vertex_map<account>& accounts;

  void elements(const message& m, auto&& each) const {
    each(accounts.at(m.from));
    each(accounts.at(m.to));
  }
  void attempt(auto& tx, const message& m) const {
    auto from = tx.read(accounts, m.from);
    --from.balance;
    ++from.changes;
    tx.write(accounts, m.from, from);
    auto to = tx.read(accounts, m.to);
    ++to.balance;
    ++to.changes;
    tx.write(accounts, m.to, to);
  }
};

struct bank {
  bank(int workers, std::uint32_t n, const activity::options& opt)
      : w(workers), accounts(w, {n, 1}, account{}), data(w, opt), op(data, transfer{accounts}) {}

  std::uint64_t run() {
    am::epoch epoch(w);
    w.parallel_for(transfers_per_call, [&](worker_t k, std::size_t begin, std::size_t end) {
      op.spawn(k, [&](auto& send) {
        for (auto i = begin; i < end; ++i) {
          const auto draw = mix64(i + calls * transfers_per_call);
          const auto n = accounts.size();
          send({static_cast<std::uint32_t>((draw & 0xffffffff) * n >> 32),
                static_cast<std::uint32_t>((draw >> 32) * n >> 32)});
        }
      });
    });
    epoch.close();
    return ++calls;
  }

  world w;
  pgas::vertex_map<account> accounts;
  activity::domain data;
  activity::executor<transfer> op;
  std::uint64_t calls = 0;
};

void measure(harness& h, int workers, std::uint32_t n, mechanism m, std::size_t grain) {
  // Created once: a call has no input of its own.
  const auto shared = std::make_shared<bank>(workers, n, activity::options{m, grain});
  kernel<int, std::uint64_t> kern;
  kern.name = "transfers";
  kern.settings = {{"mechanism", activity::name(shared->op.chosen_mechanism())},
                   {"grain", shared->op.grain()},
                   {"workers", workers},
                   {"accounts", n}};
  kern.item = "transfers";
  kern.num_items = static_cast<double>(transfers_per_call);
  kern.make_input = [] { return 0; };
  kern.run = [shared](int&) { return shared->run(); };
  kern.verify = [shared](const int&, std::uint64_t calls) -> std::string {
    std::uint64_t changes = 0;
    std::int64_t moved = 0;
    for (const auto& a : shared->accounts.local()) {
      changes += a.changes;
      moved += a.balance - account{}.balance;
    }
    if (moved != 0) return fmt::format("the balances sum to {} too much", moved);
    const auto expected = 2 * transfers_per_call * calls;
    return changes == expected ? "" : fmt::format("{} changes, {} expected", changes, expected);
  };
  kern.counters = [shared] { return shared->w.counters().totals(); };
  subject s(std::move(kern));
  const auto time = h.measure(s).time;
  const auto ns = 1e9 / static_cast<double>(transfers_per_call);
  const auto& c = shared->w.counters();
  const auto tries = c.total(obs::counter::attempts);
  const auto wasted = tries - std::min(tries, c.total(obs::counter::activities));
  fmt::print(stderr, "{:>7} {:>9} {:<10} {:>5} {:>8.1f} {:>7.1f} {:>8.2f}%\n", workers, n,
             activity::name(shared->op.chosen_mechanism()), shared->op.grain(), time.median * ns,
             time.mad * ns,
             tries == 0 ? 0.0 : 100.0 * static_cast<double>(wasted) / static_cast<double>(tries));
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  using namespace cairn;
  using activity::mechanism;
  std::vector<int> workers{1, 2};
  std::vector<std::uint32_t> accounts{16, 1024, 1u << 20};
  return bench::run_program(
      argc, argv, "The cost of a transfer between two accounts by each mechanism.",
      [&](bench::argument_list& arguments) {
        arguments.number("--workers", workers, {}, "one or more");
        arguments.number("--accounts", accounts, {}, "one or more");
      },
      [&](bench::harness& h) {
        fmt::print(stderr, "{:>7} {:>9} {:<10} {:>5} {:>8} {:>7} {:>9}\n", "workers", "accounts",
                   "mechanism", "grain", "ns", "mad", "wasted");
        const bool htm = hw::probe_transactions().works;
        for (const int k : workers) {
          for (const auto n : accounts) {
            if (k == 1) bench::measure(h, k, n, mechanism::plain, 1);
            bench::measure(h, k, n, mechanism::locks, 1);
            bench::measure(h, k, n, mechanism::one_lock, 1);
            for (const std::size_t m : {1, 4, 16, 64}) {
              if (htm) bench::measure(h, k, n, mechanism::htm, m);
              bench::measure(h, k, n, mechanism::stm, m);
            }
          }
        }
      });
}
