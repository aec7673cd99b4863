// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include <cairn/am/epoch.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/core/world.hpp>
#include <cairn/traverse/chunk.hpp>
#include <cairn/traverse/edges.hpp>
#include <cairn/traverse/own.hpp>
#include <cairn/traverse/worklist.hpp>

// Supersteps of messages. Each function below but push_ranges_within opens an epoch, calls its
// callback on all workers in chunks of about equal predicted time, and returns when all messages of
// all ranks have been handled. Visited edges are counted as obs::counter::edges.
//
//   channel     the sender: an executor of operators, or an am::channel
//   send        send(message) for an executor, send(rank, message) for a channel
//   close       optional: close(epoch) closes the epoch; its result is that of the function
//
// Throws      exceptions of the callbacks and handlers; peer_failure, cancelled
// Collective: called on all ranks, also with an empty list.

namespace cairn::traverse {

namespace detail {

template <class Channel, class Body>
[[gnu::always_inline]] inline void with_sender(Channel& channel, worker_t k, Body&& body) {
  if constexpr (requires { channel.from(k); }) {
    auto send = channel.from(k);
    body(send);
  } else {
    channel.spawn(k, body);
  }
}

// The number of edges that f returns; 0 if it returns nothing.
template <class F, class... Args>
[[gnu::always_inline]] inline std::uint64_t edges_of(F& f, Args&&... args) {
  if constexpr (std::is_void_v<decltype(f(args...))>) {
    f(args...);
    return 0;
  } else {
    return f(args...);
  }
}

struct close_epoch {
  void operator()(am::epoch& e) const { e.close(); }
};

// With several ranks chunks are short, because a worker waits for buffer space only between chunks.
[[nodiscard]] inline std::size_t chunk_of_rows(const world& w, std::size_t n, double degree) {
  const auto chunk = chunk_of(w, n, ns_of_row(degree));
  return w.size() > 1 ? std::min<std::size_t>(chunk, 64) : chunk;
}

}  // namespace detail

/// A `close` that returns the number of elements of `list` at the end of the epoch, over all ranks.
template <class T>
[[nodiscard]] auto closing_with_size(worklist<T>& list) {
  return [&list](am::epoch& e) {
    return e.close_and_sum([&list] { return std::array{list.size()}; })[0];
  };
}

/// Calls f(send, worker, begin, end) for disjoint ranges that cover [0, n), in an epoch that the
/// caller has opened and closes. Not collective.
///
/// f          returns the number of visited edges
/// chunk      chunk_of(w, n, time per element)
template <class Channel, class F>
void push_ranges_within(world& w, Channel& channel, std::size_t n, F&& f, std::size_t chunk) {
  w.parallel_for(
      n,
      [&](worker_t k, std::size_t begin, std::size_t end) {
        std::uint64_t visited = 0;
        detail::with_sender(channel, k,
                            [&](auto& send) { return visited = f(send, k, begin, end); });
        w.counters().add(k, obs::counter::edges, visited);
      },
      chunk);
}

/// push_ranges_within as a superstep. For loops that keep values in registers.
template <class Channel, class F, class Close = detail::close_epoch>
auto push_ranges(world& w, Channel& channel, std::size_t n, F&& f, std::size_t chunk,
                 Close&& close = {}) {
  am::epoch epoch(w);
  push_ranges_within(w, channel, n, f, chunk);
  return close(epoch);
}

/// Calls f(x, send) for each x of a list.
///
/// f          returns the number of visited edges, or nothing
template <class Channel, class T, class F, class Close = detail::close_epoch>
auto push_each(world& w, Channel& channel, std::span<const T> list, F&& f, double ns_each = 20,
               Close&& close = {}) {
  return push_ranges(
      w, channel, list.size(),
      [&](auto& send, worker_t, std::size_t begin, std::size_t end) {
        std::uint64_t visited = 0;
        for (const T& x : list.subspan(begin, end - begin)) visited += detail::edges_of(f, x, send);
        return visited;
      },
      chunk_of(w, list.size(), ns_each), close);
}

/// Calls f(v, send) for each own vertex v, in ranges as for_edge_ranges.
///
/// rows       a graph's rows, or edges, which f visits at most
/// f          returns the number of visited edges, or nothing
template <class Channel, class Rows, class F>
void push_own(world& w, Channel& channel, const Rows& rows, F&& f) {
  using id = typename Rows::id_type;
  am::epoch epoch(w);
  for_edge_ranges(w, rows, 1, [&](worker_t k, std::uint64_t first, std::uint64_t last) {
    std::uint64_t visited = 0;
    detail::with_sender(channel, k, [&](auto& send) {
      for (auto v = first; v < last; ++v) visited += detail::edges_of(f, static_cast<id>(v), send);
      return visited;
    });
    w.counters().add(k, obs::counter::edges, visited);
  });
  epoch.close();
}

/// Calls f(v, row, send) for the rows of each vertex v of a list of own vertices.
///
/// degree     approximate mean degree of these vertices
template <class Channel, class Id, class F, class Close = detail::close_epoch>
auto push_along(world& w, Channel& channel, const edges<Id>& along, std::span<const Id> list, F&& f,
                double degree, Close&& close = {}) {
  return push_ranges(
      w, channel, list.size(),
      [&](auto& send, worker_t, std::size_t begin, std::size_t end) {
        return along.each_row(
            list.subspan(begin, end - begin), [&](Id v, std::span<const Id> row) __attribute__((
                                                  always_inline)) { f(v, row, send); });
      },
      detail::chunk_of_rows(w, list.size(), degree), close);
}
template <class Channel, class Id, class F, class Close = detail::close_epoch>
requires std::invocable<Close&, am::epoch&>
auto push_along(world& w, Channel& channel, const edges<Id>& along, std::span<const Id> list, F&& f,
                Close&& close = {}) {
  return push_along(w, channel, along, list, f, along.mean_degree(list), close);
}

/// The number of ranges of targets of push_to_ranges.
[[nodiscard]] inline std::size_t num_target_ranges(const world& w, std::uint64_t num_edges) {
  constexpr std::uint64_t max_edges_per_range = 4'000'000;  // about 10 ms
  return 2 * static_cast<std::size_t>(w.workers()) + num_edges / max_edges_per_range;
}

/// push_along in ranges of targets, on one rank: f receives the part of a row that lies in one
/// range, and one worker processes each range. Workers therefore write disjoint elements, and no
/// cache line moves between them. Two binary searches find a part of a row, so rows should be few
/// and long.
///
/// num_edges  approximate sum of the vertices' degrees
template <class Channel, class Id, class F>
void push_to_ranges(world& w, Channel& channel, const graph::csr<Id>& rows,
                    std::span<const Id> list, F&& f, std::uint64_t num_edges) {
  CAIRN_ASSERT(w.size() == 1);
  const auto at = rows.rows();
  const auto n = rows.num_rows();
  const auto ranges = num_target_ranges(w, num_edges);
  push_ranges(
      w, channel, n,
      [&](auto& send, worker_t, std::size_t begin, std::size_t end) {
        std::uint64_t visited = 0;
        for (const Id u : list) {
          const auto row = at.neighbors(u);
          const auto first = std::lower_bound(row.begin(), row.end(), begin);
          const std::span<const Id> part(first, std::lower_bound(first, row.end(), end));
          f(u, part, send);
          visited += part.size();
        }
        return visited;
      },
      n / ranges + 1);
}

namespace detail {

// Visits the vertices of `part`, then those that worker k adds to `work` meanwhile, about `limit`
// in all. Returns the number of vertices.
template <class Channel, class Id, class F>
std::size_t visit_deep(world& w, Channel& channel, const edges<Id>& along, worklist<Id>& work, F& f,
                       worker_t k, std::span<const Id> first, std::size_t limit) {
  std::size_t vertices = 0;
  with_sender(channel, k, [&](auto& send) {
    std::uint64_t visited = 0;
    for (auto part = first; !part.empty();) {
      visited += along.each_row(
          part, [&](Id v, std::span<const Id> row) __attribute__((always_inline)) {
            if constexpr (requires { f(k, v, row, send); }) {
              f(k, v, row, send);
            } else {
              f(v, row, send);
            }
          });
      vertices += part.size();
      part = work.take_own(k, limit - std::min(vertices, limit));
      if constexpr (requires { send.flush(); }) {
        if (part.empty() && vertices < limit) {
          send.flush();  // messages that wait for others may add vertices
          part = work.take_own(k, limit - vertices);
        }
      }
    }
    w.counters().add(k, obs::counter::edges, visited);
    return visited;
  });
  return vertices;
}

// push_deep as one epoch, which the vertices of `work` hold open.
template <class Channel, class Id, class F>
void push_deep_over_ranks(world& w, Channel& channel, const edges<Id>& along, worklist<Id>& work,
                          F& f) {
  constexpr std::size_t at_once = 64;  // as chunk_of_rows
  const auto list = work.take();
  std::atomic<std::size_t> next{0};
  const auto take = [&](worker_t k) {
    if (next.load(std::memory_order_relaxed) < list.size()) {
      const auto begin = next.fetch_add(at_once, std::memory_order_relaxed);
      if (begin < list.size()) return list.subspan(begin, std::min(at_once, list.size() - begin));
    }
    return work.take_own_or_shared(k, at_once);
  };
  const typename worklist<Id>::holding held(work);
  am::epoch epoch(w);  // handlers may run from here on; no wave begins before the job
  epoch.hold(main_worker, list.size());
  std::atomic<bool> failed{false};
  const auto visit_all = [&](worker_t k) {
    for (unsigned idle_rounds = 0; !failed.load(std::memory_order_relaxed);) {
      const auto part = take(k);
      if (!part.empty()) {
        idle_rounds = 0;
        epoch.release(k, visit_deep(w, channel, along, work, f, k, part, at_once));
        work.share(k, 2 * at_once);
        if (w.progress(k)) continue;
      } else {
        w.pool().relax(idle_rounds++);
        w.pool().throw_if_stalled();
      }
      if (epoch.try_close(k, part.empty() ? am::worker_activity::idle : am::worker_activity::busy))
        return;
    }
  };
  w.run([&](worker_t k) {
    try {
      visit_all(k);
    } catch (...) {
      failed.store(true, std::memory_order_relaxed);
      throw;
    }
  });
}

}  // namespace detail

/// push_along for a list to which its own messages add vertices, until all of them have been
/// visited. Returns the number of supersteps. f may take the worker as its first argument.
///
/// With several ranks it is one superstep, in which added vertices are visited, too, by the worker
/// that added them or by others of its rank. On one rank the worker that added a vertex visits it,
/// in this superstep or the next; a worker ends a chunk after about a tenth of a millisecond, so
/// that the others receive a share of the remaining vertices.
template <class Channel, class Id, class F>
std::uint64_t push_deep(world& w, Channel& channel, const edges<Id>& along, worklist<Id>& work,
                        F&& f) {
  if (w.size() > 1) {
    detail::push_deep_over_ranks(w, channel, along, work, f);
    return 1;
  }
  std::uint64_t supersteps = 0;
  for (; !work.empty(); ++supersteps) {
    const auto list = work.take();
    const auto degree = along.mean_degree(list);
    const auto limit = chunk_of(w, std::numeric_limits<std::uint32_t>::max(), ns_of_row(degree));
    am::epoch epoch(w);
    w.parallel_for(
        list.size(),
        [&](worker_t k, std::size_t begin, std::size_t end) {
          detail::visit_deep(w, channel, along, work, f, k, list.subspan(begin, end - begin),
                             limit);
        },
        detail::chunk_of_rows(w, list.size(), degree));
    epoch.close();
  }
  return supersteps;
}

}  // namespace cairn::traverse
