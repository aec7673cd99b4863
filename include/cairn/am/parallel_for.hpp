// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <cairn/am/call.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/core/world.hpp>
#include <cairn/task/task.hpp>
#include <cairn/task/when_all.hpp>
#include <cairn/task/yield.hpp>

namespace cairn::am {

/// Which ranks run the iterations of a loop.
enum class locality {
  partition,  ///< all: rank r has the r-th of equal blocks
  local,      ///< this one
  remote      ///< all others; this one if there are no others
};

struct loop_options {
  std::uint64_t chunk = 0;  ///< iterations per call of the body; 0: chosen from n, at most 1,024
  locality where = locality::partition;
  /// Per worker at once; 0: `world_options::loop_tasks` if the body is a coroutine, else 1.
  std::size_t tasks = 0;
};

namespace detail {

struct loop_part {
  std::uint64_t first, last, chunk;
  std::uint64_t tasks;
};

/// The state that the tasks of one rank share: the next iteration that no task has taken.
struct loop_state {
  world& owner;
  const loop_part part;
  std::atomic<std::uint64_t> next{part.first};

  /// The first of a chunk, or part.last.
  [[nodiscard]] std::uint64_t take() noexcept {
    auto begin = next.load(std::memory_order_relaxed);
    // Not fetch_add: the counter could overflow behind the last chunk.
    while (begin < part.last &&
           !next.compare_exchange_weak(begin, begin + std::min(part.chunk, part.last - begin),
                                       std::memory_order_relaxed)) {
    }
    return begin;
  }
  void stop() noexcept { next.store(part.last, std::memory_order_relaxed); }
};

/// The parameters of a loop's body after world&, begin and end.
template <class F>
struct loop_body;
template <class R, class... P>
struct loop_body<R (*)(world&, std::uint64_t, std::uint64_t, P...)> {
  using result = R;
  using arguments = std::tuple<std::remove_cvref_t<P>...>;
};
template <class R, class... P>
struct loop_body<R (*)(world&, std::uint64_t, std::uint64_t, P...) noexcept>
    : loop_body<R (*)(world&, std::uint64_t, std::uint64_t, P...)> {};
template <auto F>
using loop_arguments = typename loop_body<decltype(F)>::arguments;

template <auto F>
auto run_chunk(world& w, std::uint64_t begin, std::uint64_t end,
               const loop_arguments<F>& arguments) {
  return std::apply([&](const auto&... a) { return F(w, begin, end, a...); }, arguments);
}

/// Takes chunks until none is left.
template <auto F>
task::task<void> take_chunks(loop_state* loop, const loop_arguments<F>* arguments) {
  const auto last = loop->part.last;
  try {
    for (auto begin = loop->take(); begin < last; begin = loop->take()) {
      const auto end = begin + std::min(loop->part.chunk, last - begin);
      if constexpr (is_task<typename loop_body<decltype(F)>::result>) {
        co_await run_chunk<F>(loop->owner, begin, end, *arguments);
      } else {
        run_chunk<F>(loop->owner, begin, end, *arguments);
        co_await task::pause();
      }
    }
  } catch (...) {
    loop->stop();
    throw;
  }
}

/// How a loop's iterations are divided: its i-th rank has the (base + i)-th of equal blocks,
/// cyclically, so that the rank that starts the loop comes first if it has a block.
struct loop_plan {
  std::uint64_t n = 0, share = 0, chunk = 0, tasks = 0;
  rank_t origin = 0, ranks = 0, base = 0;
  locality where = locality::partition;

  [[nodiscard]] rank_t rank_at(rank_t i) const noexcept;
  [[nodiscard]] loop_part part_at(rank_t i) const noexcept;
  [[nodiscard]] bool starts_at_origin() const noexcept { return rank_at(0) == origin; }
};
[[nodiscard]] loop_plan plan_of_loop(std::uint64_t n, const loop_options& opt, rank_t origin,
                                     rank_t size, int workers);

/// The first-th to the last-th of a plan's ranks, without the last.
struct loop_ranks {
  rank_t first, last;
};
/// What one rank calls for these ranks: parts of about equal size, of one rank each if they are
/// few.
[[nodiscard]] std::vector<loop_ranks> branches_of(loop_ranks over);

/// The tree of calls that starts and ends a loop. A class, because clang's name of a function
/// template lacks its arguments, and ranks know what they call by its name (remote_function).
template <auto F>
struct loop_tree {
  using arguments = loop_arguments<F>;

  /// Runs the part of the first of these ranks, which is this one, and has the others run theirs.
  static task::task<void> run(world& w, loop_plan plan, loop_ranks over, arguments a) {
    std::vector<task::task<void>> parts = calls(w, plan, {over.first + 1, over.last}, a);
    parts.push_back(run_part(&w, plan.part_at(over.first), &a));
    co_await task::when_all(std::move(parts));
  }
  /// Has these ranks run their parts.
  static std::vector<task::task<void>> calls(world& w, const loop_plan& plan, loop_ranks over,
                                             const arguments& a) {
    std::vector<task::task<void>> branches;
    for (const auto branch : branches_of(over)) branches.push_back(call(&w, plan, branch, a));
    return branches;
  }

 private:
  static task::task<void> call(world* w, loop_plan plan, loop_ranks over, arguments a) {
    co_await w->call<&loop_tree::run>(plan.rank_at(over.first), plan, over, std::move(a));
  }
  static task::task<void> run_part(world* w, loop_part part, const arguments* a) {
    loop_state state{*w, part};
    const auto chunks = (part.last - part.first - 1) / part.chunk + 1;
    const auto workers = static_cast<std::uint64_t>(w->workers());
    std::vector<task::task<void>> takers;
    for (auto n = std::min(chunks, part.tasks * workers); n > 0; --n) {
      takers.push_back(take_chunks<F>(&state, a));
    }
    co_await task::when_all_spread(std::move(takers));
  }
};

template <auto F>
task::task<void> run_loop(world* w, std::uint64_t n, loop_options opt,
                          loop_arguments<F> arguments) {
  if (n == 0) co_return;
  constexpr bool awaits = is_task<typename loop_body<decltype(F)>::result>;
  if (opt.tasks == 0) opt.tasks = awaits ? w->options().loop_tasks : 1;
  const auto plan = plan_of_loop(n, opt, w->rank(), w->size(), w->workers());
  const loop_ranks all{0, plan.ranks};
  if (plan.starts_at_origin()) {
    co_await loop_tree<F>::run(*w, plan, all, std::move(arguments));
  } else {
    co_await task::when_all(loop_tree<F>::calls(*w, plan, all, arguments));
  }
}

}  // namespace detail
}  // namespace cairn::am

namespace cairn {

/// co_await w.parallel_for<&f>(n, options, arguments...): calls f(world, begin, end, arguments...)
/// for disjoint chunks that cover [0, n), and resumes when all have ended. For tasks, on any rank;
/// f may start another such loop. The body of a rank uses the other parallel_for.
///
///   task::task<void> visit(world& w, std::uint64_t begin, std::uint64_t end,
///                          pgas::global_array<double> x);
///
///   co_await w.parallel_for<&visit>(n, am::loop_options{.where = am::locality::local}, x);
///
/// f         task::task<void> or void, known by name to all ranks (call.hpp). A coroutine runs in
///           options.tasks tasks per worker at once. A plain one runs once per worker at a time,
///           and messages are handled between its chunks
/// Arguments converted to f's parameters; packable. Each call gets copies
/// Messages  one call per rank and its answer, not per chunk; over more than 17 ranks along a tree
/// Throws    the exception of one of the calls of f, after all have ended; no more chunks start on
///           the rank where it happened. From another rank as am::call_failure
/// Source    [GMT14] gmt_parFor
template <auto F, class Options, class... Arguments>
auto world::parallel_for(std::uint64_t n, const Options& options, Arguments&&... arguments) {
  return am::detail::run_loop<F>(
      this, n, options, am::detail::loop_arguments<F>(std::forward<Arguments>(arguments)...));
}

}  // namespace cairn
