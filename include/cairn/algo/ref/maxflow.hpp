// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

// Judges share no code with what they judge: this file includes only the standard library.

namespace cairn::algo::ref {

struct capacity_arc {
  std::uint64_t source, target;
  std::int64_t capacity;
};

/// The value of a maximum flow by Edmonds and Karp (shortest augmenting paths). An undirected edge
/// is two arcs. Serial, O(n m^2).
inline std::int64_t edmonds_karp(std::uint64_t num_vertices, const std::vector<capacity_arc>& arcs,
                                 std::uint64_t s, std::uint64_t t) {
  std::vector<std::vector<std::size_t>> from(
      num_vertices);  // arc 2i is arcs[i], 2i + 1 its reverse
  std::vector<std::int64_t> room;
  std::vector<std::uint64_t> head;
  for (const auto& a : arcs) {
    from[a.source].push_back(room.size());
    room.push_back(a.capacity);
    head.push_back(a.target);
    from[a.target].push_back(room.size());
    room.push_back(0);
    head.push_back(a.source);
  }
  std::int64_t value = 0;
  for (;;) {
    constexpr auto none = std::numeric_limits<std::size_t>::max();
    std::vector<std::size_t> came_by(num_vertices, none);
    std::queue<std::uint64_t> queue;
    queue.push(s);
    while (!queue.empty() && came_by[t] == none) {
      const auto v = queue.front();
      queue.pop();
      for (const auto a : from[v]) {
        if (room[a] <= 0 || head[a] == s || came_by[head[a]] != none) continue;
        came_by[head[a]] = a;
        queue.push(head[a]);
      }
    }
    if (came_by[t] == none) return value;
    auto amount = std::numeric_limits<std::int64_t>::max();
    for (auto v = t; v != s; v = head[came_by[v] ^ 1]) amount = std::min(amount, room[came_by[v]]);
    for (auto v = t; v != s; v = head[came_by[v] ^ 1]) {
      room[came_by[v]] -= amount;
      room[came_by[v] ^ 1] += amount;
    }
    value += amount;
  }
}

}  // namespace cairn::algo::ref
