// SPDX-License-Identifier: Apache-2.0
//
// Tasks over global arrays, each beside what one would write without them:
//
//   puts    million blocking 8-byte puts per second between 2 ranks, each of --tasks tasks, beside
//           requests that leave one by one: one message per put
//   gather  million random 8-byte reads per second, by tasks, beside am::request
//
//   global_array --form puts --ranks 2 --threads 1

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <cairn/am/request.hpp>
#include <cairn/base/random.hpp>
#include <cairn/hw/pages.hpp>
#include <cairn/pgas/global_view.hpp>
#include <cairn/task/task.hpp>
#include <cairn/task/when_all.hpp>

#include <bench/program.hpp>

namespace cairn::bench {
namespace {

using pgas::global_memory;
using pgas::global_view;

struct array_options {
  std::string form = "puts";
  std::uint64_t accesses = std::uint64_t{1} << 20;  // per rank and pass
  std::uint64_t tasks = 4096;                       // per rank
  int table_bits = 22;                              // log2 of the words per rank
};

using words = global_view<std::uint64_t>;

std::uint64_t drawn(std::uint64_t rank, std::uint64_t i, std::uint64_t below) {
  return static_cast<std::uint64_t>(static_cast<uint128_t>(mix64(mix64(rank + 1) + i)) * below >>
                                    64);
}

template <class Make>
task::task<> run_tasks(std::uint64_t tasks, std::uint64_t all, Make make) {
  std::vector<task::task<>> started;
  started.reserve(tasks);
  for (std::uint64_t t = 0; t < tasks; ++t) {
    started.push_back(make(all * t / tasks, all * (t + 1) / tasks));
  }
  co_await task::when_all(std::move(started));
}

template <class Pass, class Wrong>
subject subject_of(world& w, const array_options& o, const std::string& method, double millions,
                   Pass pass, Wrong wrong) {
  kernel<int, int> kern;
  kern.name = "global_array_" + o.form;
  kern.settings = {{"ranks", w.size()},
                   {"workers", w.workers()},
                   {"method", method},
                   {"accesses_per_rank", o.accesses},
                   {"tasks_per_rank", o.tasks},
                   {"table_bits", o.table_bits},
                   {"buffer_bytes", w.messages().coalesce_bytes()}};
  kern.item = "million_accesses";
  kern.num_items = millions;
  kern.make_input = [] { return 0; };
  kern.run = [pass](int) mutable {
    pass();
    return 0;
  };
  kern.verify = [wrong](int, int) mutable -> std::string {
    const std::uint64_t n = wrong();
    return n == 0 ? "" : fmt::format("{} values are wrong", n);
  };
  kern.counters = [&w] { return counters_of_all(w); };
  return subject(std::move(kern));
}

void report(world& w, const std::vector<subject*>& all, const std::vector<measurement>& times) {
  if (w.rank() != 0) return;
  fmt::print(stderr, "{:>24} {:>12} {:>8} {:>10}\n", "method", "million/s", "mad %", "by first");
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto accesses = all[i]->num_items / all[0]->num_items;  // passes differ in length
    fmt::print(stderr, "{:>24} {:>12.2f} {:>8.1f} {:>10.2f}\n",
               all[i]->settings["method"].get<std::string>(),
               all[i]->num_items / times[i].time.median,
               100 * times[i].time.mad / times[i].time.median,
               accesses * ratio_of(times[0], times[i]).median);
  }
}

// Puts -----------------------------------------------------------------------------------------

// Elements first .. last - 1 of the puts of this rank, to the next rank's block.
task::task<> put_some(words a, std::uint64_t base, std::uint64_t block, std::uint64_t rank,
                      std::uint64_t first, std::uint64_t last) {
  for (auto i = first; i < last; ++i) {
    const auto at = drawn(rank, i, block);
    co_await a.put(base + at, mix64(at));
  }
}

void measure_puts(world& w, harness& h, const array_options& o) {
  const auto block = std::uint64_t{1} << o.table_bits;
  global_memory memory(w);
  const auto ranks = static_cast<std::uint64_t>(w.size());
  const auto me = static_cast<std::uint64_t>(w.rank());
  const auto base = (me + 1) % ranks * block;
  const auto table = memory.collective_alloc<std::uint64_t>(block * ranks);
  auto a = memory.view(table);
  const auto local = a.local();
  struct put {
    std::uint64_t at, x;
  };
  // A buffer holds one question or one answer.
  am::request<put, std::array<std::uint32_t, 1>> single(
      w,
      [data = local.data()](worker_t, const put& p) {
        data[p.at] = p.x;
        return std::array<std::uint32_t, 1>{};
      },
      [](worker_t, std::uint64_t, const auto&) {},
      {.kind = channel_kind::standing,
       .coalesce_bytes = 8,
       .max_unanswered = static_cast<std::uint32_t>(o.tasks)});
  const auto wrong_after = [&](std::uint64_t puts) {
    return [&, puts] {
      const auto previous = (me + ranks - 1) % ranks;
      std::vector<bool> written(block);
      for (std::uint64_t i = 0; i < puts; ++i) written[drawn(previous, i, block)] = true;
      std::uint64_t n = 0;
      for (std::uint64_t i = 0; i < block; ++i) n += local[i] != (written[i] ? mix64(i) : 0);
      return w.sum(n);
    };
  };
  const auto over_zeros = [&](subject s) {
    s.prepare = [&, prepare = s.prepare] {
      prepare();
      std::fill(local.begin(), local.end(), 0);
      w.barrier();
    };
    return s;
  };
  const auto by_tasks = [&, me](std::uint64_t tasks, std::uint64_t puts) {
    w.run(run_tasks(tasks, puts, [=](std::uint64_t first, std::uint64_t last) {
      return put_some(a, base, block, me, first, last);
    }));
  };
  const auto millions = [&](std::uint64_t puts) {
    return static_cast<double>(puts) * w.size() * 1e-6;
  };
  const auto few = std::max<std::uint64_t>(o.accesses / 64, 1);
  auto one_by_one = over_zeros(subject_of(
      w, o, "one message per put", millions(few),
      [&] {
        const auto to = static_cast<rank_t>((w.rank() + 1) % w.size());
        w.parallel_for(
            few,
            [&](worker_t k, std::size_t begin, std::size_t end) {
              auto ask = single.from(k);
              for (auto i = begin; i < end; ++i) {
                const auto at = drawn(me, i, block);
                ask(to, {at, mix64(at)}, am::slot(0));
              }
            },
            256);
        single.finish();
        w.barrier();
      },
      wrong_after(few)));
  const auto fewest = few / 16 + 1;
  auto one_task = over_zeros(subject_of(
      w, o, "1 task", millions(fewest), [&] { by_tasks(1, fewest); }, wrong_after(fewest)));
  auto many = over_zeros(subject_of(
      w, o, fmt::format("{} tasks", o.tasks), millions(o.accesses),
      [&] { by_tasks(o.tasks, o.accesses); }, wrong_after(o.accesses)));
  std::vector<subject*> all{&one_by_one, &one_task, &many};
  report(w, all, h.measure_alternating(all));
}

// Gather ---------------------------------------------------------------------------------------

// Each task takes the next access, so that the copies written at a time are close together. Their
// cache lines are fetched while the gets are under way: a store to another one would hold up those
// of the next tasks.
task::task<> get_some(words a, std::uint64_t n, std::uint64_t rank, std::uint64_t* copies,
                      std::atomic<std::uint64_t>* next, std::uint64_t accesses) {
  for (;;) {
    const auto i = next->fetch_add(1, std::memory_order_relaxed);
    if (i >= accesses) co_return;
    __builtin_prefetch(copies + i, 1);
    copies[i] = co_await a.get(drawn(rank, i, n));
  }
}
task::task<> get_with_lookahead(global_memory* memory, words a, std::uint64_t n, std::uint64_t rank,
                                std::uint64_t* copies, std::uint64_t first, std::uint64_t last) {
  auto ops = co_await memory->operations();
  for (auto i = first; i < last; ++i) a.get(drawn(rank, i, n), &copies[i], ops);
  co_await ops.wait();
}

void measure_gather(world& w, harness& h, const array_options& o) {
  const auto block = std::uint64_t{1} << o.table_bits;
  global_memory memory(w);
  const auto n = block * static_cast<std::uint64_t>(w.size());
  const auto me = static_cast<std::uint64_t>(w.rank());
  const auto table = memory.collective_alloc<std::uint64_t>(n);
  auto a = memory.view(table);
  const auto local = a.local();
  for (std::uint64_t i = 0; i < block; ++i) local[i] = mix64(me * block + i);
  hw::page_buffer<std::uint64_t> copies(o.accesses);
  copies.prefault();
  am::request<std::uint64_t, std::uint64_t> get(
      w, [data = local.data()](worker_t, std::uint64_t i) { return data[i]; },
      [to = copies.data()](worker_t, std::uint64_t slot, std::uint64_t x) { to[slot] = x; },
      {.kind = channel_kind::standing});
  const auto wrong = [&] {
    std::uint64_t bad = 0;
    for (std::uint64_t i = 0; i < o.accesses; ++i) bad += copies[i] != mix64(drawn(me, i, n));
    std::fill(copies.begin(), copies.end(), 0);
    return w.sum(bad);
  };
  w.barrier();
  const auto millions = static_cast<double>(o.accesses) * w.size() * 1e-6;
  auto requests = subject_of(
      w, o, "am::request", millions,
      [&] {
        w.parallel_for(
            o.accesses,
            [&](worker_t k, std::size_t begin, std::size_t end) {
              auto ask = get.from(k);
              for (auto i = begin; i < end; ++i) {
                const auto at = drawn(me, i, n);
                ask(static_cast<rank_t>(at >> o.table_bits), at & (block - 1), am::slot(i));
              }
            },
            4096);
        get.finish();
        w.barrier();
      },
      wrong);
  auto* const to = copies.data();
  auto awaited = subject_of(
      w, o, fmt::format("{} tasks", o.tasks), millions,
      [&, to] {
        std::atomic<std::uint64_t> next{0};
        w.run(run_tasks(o.tasks, o.tasks, [=, &next, all = o.accesses](auto, auto) {
          return get_some(a, n, me, to, &next, all);
        }));
      },
      wrong);
  auto ahead = subject_of(
      w, o, "non-blocking", millions,
      [&, to] {
        w.run(run_tasks(o.tasks / 64 + 1, o.accesses,
                        [=, m = &memory](std::uint64_t first, std::uint64_t last) {
                          return get_with_lookahead(m, a, n, me, to, first, last);
                        }));
      },
      wrong);
  std::vector<subject*> all{&requests, &awaited, &ahead};
  report(w, all, h.measure_alternating(all));
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  using namespace cairn;
  bench::array_options o;
  return bench::run_program_on_ranks(
      argc, argv, "Tasks over global arrays.",
      [&](bench::argument_list& arguments) {
        arguments.word("--form", o.form, {"puts", "gather"}, "what is measured");
        arguments.number("--accesses", o.accesses, {1, std::uint64_t{1} << 40},
                         "of each rank in a pass");
        arguments.number("--tasks", o.tasks, {1, std::uint64_t{1} << 30}, "of each rank");
        arguments.number("--table-bits", o.table_bits, {1, 30}, "log2 of the words of each rank");
      },
      [&](world& w, bench::harness& h) {
        if (o.form == "puts") bench::measure_puts(w, h, o);
        if (o.form == "gather") bench::measure_gather(w, h, o);
      });
}
