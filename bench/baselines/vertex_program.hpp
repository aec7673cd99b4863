// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

namespace cairn::bench::baselines {

/// A bulk-synchronous vertex program on threads, as in Pregel and HAMA. In each superstep
/// compute(v, superstep, inbox, send) is called for every vertex that has messages or has not voted
/// to halt by returning false; send(w, message) delivers to w in the next superstep. Ends when all
/// vertices have halted and no message is in transit. Messages are stored per vertex, not combined.
/// Uses nothing of Cairn.
///
/// n         number of vertices, distributed to the threads in blocks
/// Returns   number of supersteps
template <class Message, class Compute>
int run_vertex_program(std::uint32_t n, int threads, Compute compute) {
  struct letter {
    std::uint32_t to;
    Message content;
  };
  const auto parts = static_cast<std::size_t>(threads);
  const auto block = (n + static_cast<std::uint32_t>(threads) - 1) / static_cast<unsigned>(threads);
  using outbox = std::vector<std::vector<letter>>;  // by receiving thread
  std::vector<outbox> written(parts, outbox(parts)), read(parts, outbox(parts));
  std::vector<std::uint8_t> active(n, 1);
  std::atomic<bool> any_active{false};
  bool more = true;
  int superstep = 0;
  std::barrier step(threads, [&]() noexcept {
    more = any_active.exchange(false, std::memory_order_relaxed);
    written.swap(read);
    ++superstep;
  });
  const auto work = [&](std::size_t self) {
    const auto first = std::min(n, static_cast<std::uint32_t>(self) * block);
    const auto last = std::min(n, first + block);
    std::vector<std::uint32_t> begin(last - first + 2);
    std::vector<Message> inbox;
    while (more) {
      std::fill(begin.begin(), begin.end(), 0);
      for (auto& from : read) {
        for (const auto& l : from[self]) ++begin[l.to - first + 2];
      }
      for (std::size_t i = 2; i < begin.size(); ++i) begin[i] += begin[i - 1];
      inbox.resize(begin.back());
      for (auto& from : read) {
        for (const auto& l : from[self]) inbox[begin[l.to - first + 1]++] = l.content;
        from[self].clear();
      }
      bool any = false;
      const auto send = [&](std::uint32_t to, const Message& m) {
        written[self][to / block].push_back({to, m});
        any = true;
      };
      for (auto v = first; v < last; ++v) {
        const std::span<const Message> mine(inbox.data() + begin[v - first],
                                            begin[v - first + 1] - begin[v - first]);
        if (mine.empty() && !active[v]) continue;
        active[v] = compute(v, superstep, mine, send);
        any = any || active[v];
      }
      if (any) any_active.store(true, std::memory_order_relaxed);
      step.arrive_and_wait();
    }
  };
  std::vector<std::jthread> others;
  for (std::size_t t = 1; t < parts; ++t) others.emplace_back(work, t);
  work(0);
  return superstep;
}

/// Breadth-first search as a vertex program.
/// Returns   parents; the root is its own parent, unreached vertices have all ones
[[nodiscard]] inline std::vector<std::uint32_t> bfs_vertex_program(
    std::span<const std::uint64_t> offsets, std::span<const std::uint32_t> targets,
    std::uint32_t root, int threads) {
  constexpr auto unreached = ~std::uint32_t{0};
  const auto n = static_cast<std::uint32_t>(offsets.size() - 1);
  std::vector<std::uint32_t> parent(n, unreached);
  run_vertex_program<std::uint32_t>(n, threads,
                                    [&](std::uint32_t v, int superstep, auto inbox, auto& send) {
                                      const bool starts = superstep == 0 && v == root;
                                      if (parent[v] != unreached || (inbox.empty() && !starts))
                                        return false;
                                      parent[v] = starts ? v : inbox.front();
                                      for (auto e = offsets[v]; e < offsets[v + 1]; ++e)
                                        send(targets[e], v);
                                      return false;
                                    });
  return parent;
}

}  // namespace cairn::bench::baselines
