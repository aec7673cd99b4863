// SPDX-License-Identifier: Apache-2.0
//
// Tasks over global arrays, each beside what one would write without them:
//
//   puts    million blocking 8-byte puts per second between 2 ranks, each of --tasks tasks, beside
//           requests that leave one by one: one message per put
//   gather  million random 8-byte reads per second, by tasks, beside am::request
//   walks   million steps per second of random walks on one rank, by tasks, beside a plain loop of
//           one walk at a time and a loop that interleaves walks by hand
//
//   global_array --form puts --ranks 2 --threads 1        global_array --form walks --threads 1

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

#include <bench/baselines/walks.hpp>
#include <bench/program.hpp>

namespace cairn::bench {
namespace {

using pgas::global_memory;
using pgas::global_view;

struct array_options {
  std::string form = "puts";
  std::uint64_t accesses = std::uint64_t{1} << 20;  // per rank and pass
  std::uint64_t tasks = 4096;                       // per rank
  int table_bits = 22;                              // words per rank; vertices of walks
  std::uint64_t length = 40;                        // of a walk
  std::size_t interleaved = 32;                     // walks of the loop by hand
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

struct pass_result {
  std::uint64_t passes;
};

template <class Pass, class Wrong>
subject subject_of(world& w, const array_options& o, const std::string& method, double millions,
                   Pass pass, Wrong wrong) {
  kernel<int, pass_result> kern;
  kern.name = "global_array_" + o.form;
  kern.settings = {{"ranks", w.size()},
                   {"workers", w.workers()},
                   {"method", method},
                   {"accesses_per_rank", o.accesses},
                   {"tasks_per_rank", o.tasks},
                   {"table_bits", o.table_bits},
                   {"length", o.length},
                   {"interleaved", o.interleaved},
                   {"buffer_bytes", w.messages().coalesce_bytes()}};
  kern.item = "million_accesses";
  kern.num_items = millions;
  kern.make_input = [] { return 0; };
  kern.run = [pass](int) mutable { return pass_result{pass()}; };
  kern.verify = [wrong](int, const pass_result&) mutable -> std::string {
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
    fmt::print(stderr, "{:>24} {:>12.2f} {:>8.1f} {:>10.2f}\n",
               all[i]->settings["method"].get<std::string>(),
               all[i]->num_items / times[i].time.median,
               100 * times[i].time.mad / times[i].time.median, ratio_of(times[0], times[i]).median);
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
       .coalesce_bytes = 24,
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
  std::uint64_t passes = 0;
  const auto by_tasks = [&, me](std::uint64_t tasks, std::uint64_t puts) {
    w.run(run_tasks(tasks, puts, [=](std::uint64_t first, std::uint64_t last) {
      return put_some(a, base, block, me, first, last);
    }));
    return ++passes;
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
        return ++passes;
      },
      wrong_after(few)));
  const auto fewest = few / 16 + 1;
  auto one_task = over_zeros(subject_of(
      w, o, "1 task", millions(fewest), [&] { return by_tasks(1, fewest); }, wrong_after(fewest)));
  auto many = over_zeros(subject_of(
      w, o, fmt::format("{} tasks", o.tasks), millions(o.accesses),
      [&] { return by_tasks(o.tasks, o.accesses); }, wrong_after(o.accesses)));
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
  std::uint64_t passes = 0;
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
        return ++passes;
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
        return ++passes;
      },
      wrong);
  auto ahead = subject_of(
      w, o, "non-blocking", millions,
      [&, to] {
        w.run(run_tasks(o.tasks / 64 + 1, o.accesses,
                        [=, m = &memory](std::uint64_t first, std::uint64_t last) {
                          return get_with_lookahead(m, a, n, me, to, first, last);
                        }));
        return ++passes;
      },
      wrong);
  std::vector<subject*> all{&requests, &awaited, &ahead};
  report(w, all, h.measure_alternating(all));
}

// Walks ----------------------------------------------------------------------------------------

using baselines::row;
using baselines::walk_alone;
using baselines::walk_choice;
using baselines::walk_interleaved;
using baselines::walk_start;
using rows_view = global_view<row>;
using targets_view = global_view<std::uint32_t>;

task::task<> walk_some(rows_view rows, targets_view targets, std::uint64_t length,
                       std::uint64_t* sum, std::uint64_t first, std::uint64_t last) {
  std::uint64_t mine = 0;
  for (auto k = first; k < last; ++k) {
    auto v = walk_start(k, rows.size());
    for (std::uint64_t s = 0; s < length; ++s) {
      const auto r = co_await rows.get(v);
      v = co_await targets.get(r.first + walk_choice(k, s, r.degree));
    }
    mine += mix64(v);
  }
  *sum += mine;
}

void measure_walks(world& w, harness& h, const array_options& o) {
  CAIRN_EXPECTS(w.size() == 1 && w.workers() == 1, "walks are measured on one worker");
  const auto n = std::uint64_t{1} << o.table_bits;
  global_memory memory(w);
  const auto row_array = memory.collective_alloc<row>(n);
  const auto of_rows = memory.view(row_array).local();
  std::uint64_t edges = 0;
  for (std::uint64_t v = 0; v < n; ++v) {
    of_rows[v] = {edges, 8 + mix64(v) % 17};
    edges += of_rows[v].degree;
  }
  const auto target_array = memory.collective_alloc<std::uint32_t>(edges);
  const auto of_targets = memory.view(target_array).local();
  for (std::uint64_t e = 0; e < edges; ++e) {
    of_targets[e] = static_cast<std::uint32_t>(drawn(7, e, n));
  }
  const auto* const rows = of_rows.data();
  const auto* const targets = of_targets.data();
  const auto walks = std::max<std::uint64_t>(o.accesses / o.length, 1);
  const auto expected = walk_alone(rows, targets, n, walks, o.length);
  std::uint64_t sum = 0, passes = 0;
  const auto wrong = [&] { return static_cast<std::uint64_t>(std::exchange(sum, 0) != expected); };
  const auto millions = static_cast<double>(walks * o.length) * 1e-6;
  auto alone = subject_of(
      w, o, "one at a time", millions,
      [&] {
        sum = walk_alone(rows, targets, n, walks, o.length);
        return ++passes;
      },
      wrong);
  auto by_hand = subject_of(
      w, o, fmt::format("{} by hand", o.interleaved), millions,
      [&] {
        sum = walk_interleaved(rows, targets, n, walks, o.length, o.interleaved);
        return ++passes;
      },
      wrong);
  auto by_tasks = subject_of(
      w, o, fmt::format("{} tasks", o.tasks), millions,
      [&] {
        sum = 0;
        const auto a = memory.view(row_array);
        const auto b = memory.view(target_array);
        w.run(run_tasks(o.tasks, walks,
                        [=, l = o.length, to = &sum](std::uint64_t first, std::uint64_t last) {
                          return walk_some(a, b, l, to, first, last);
                        }));
        return ++passes;
      },
      wrong);
  std::vector<subject*> all{&alone, &by_hand, &by_tasks};
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
        arguments.word("--form", o.form, {"puts", "gather", "walks"}, "what is measured");
        arguments.number("--accesses", o.accesses, {1, std::uint64_t{1} << 40},
                         "of each rank in a pass");
        arguments.number("--tasks", o.tasks, {1, std::uint64_t{1} << 30}, "of each rank");
        arguments.number("--table-bits", o.table_bits, {1, 30},
                         "log2 of the words of each rank, or of the vertices");
        arguments.number("--length", o.length, {1, std::uint64_t{1} << 30}, "of a walk");
        arguments.number("--interleaved", o.interleaved, {1, std::size_t{1} << 20},
                         "walks that the loop by hand interleaves");
      },
      [&](world& w, bench::harness& h) {
        if (o.form == "puts") bench::measure_puts(w, h, o);
        if (o.form == "gather") bench::measure_gather(w, h, o);
        if (o.form == "walks") bench::measure_walks(w, h, o);
      });
}
