// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <unordered_map>

#include <support/serializability.hpp>

namespace cairn::support {
namespace {

using node = std::uint32_t;

constexpr std::size_t max_puts = 16;

struct edge {
  node from, to;
};

/// A cycle of attempts as text; empty if there is none. Repeatedly removes nodes without
/// predecessors; every remaining node has a remaining predecessor.
std::string cycle_in(std::size_t num_nodes, const std::vector<edge>& edges) {
  std::vector<std::uint32_t> first(num_nodes + 1), before(num_nodes);
  for (const auto& e : edges) {
    ++first[e.from + 1];
    ++before[e.to];
  }
  for (std::size_t i = 0; i < num_nodes; ++i) first[i + 1] += first[i];
  std::vector<node> after(edges.size());
  auto at = first;
  for (const auto& e : edges) after[at[e.from]++] = e.to;
  std::vector<node> ready;
  for (node n = 0; n < num_nodes; ++n) {
    if (before[n] == 0) ready.push_back(n);
  }
  for (std::size_t i = 0; i < ready.size(); ++i) {
    for (auto k = first[ready[i]]; k < first[ready[i] + 1]; ++k) {
      if (--before[after[k]] == 0) ready.push_back(after[k]);
    }
  }
  if (ready.size() == num_nodes) return {};
  std::unordered_map<node, node> one_before;
  for (const auto& e : edges) {
    if (before[e.from] != 0 && before[e.to] != 0) one_before[e.to] = e.from;
  }
  std::unordered_map<node, bool> seen;
  node n = one_before.begin()->first;
  while (!seen[n]) {
    seen[n] = true;
    n = one_before.at(n);
  }
  std::string text = "attempt " + std::to_string(n);
  for (node m = one_before.at(n); m != n; m = one_before.at(m)) {
    text += " after " + std::to_string(m);
  }
  return text + " after " + std::to_string(n);
}

}  // namespace

std::string history::complaint() const {
  std::size_t num_nodes = 1;
  for (const auto& t : threads_) {
    if (t.size() != 0) num_nodes = std::max(num_nodes, t.attempt(t.size() - 1) + 1);
  }
  const auto text = [](std::uint64_t x) { return std::to_string(x); };
  // Indexed by attempt: whether it committed. Indexed by value: the attempt that replaced it.
  std::vector<bool> committed(num_nodes);
  committed[0] = true;
  std::vector<node> replaced_by(256 + num_nodes * max_puts);  // 0: none
  const auto number_of = [](std::uint64_t value) {
    return value < 256 ? value : 256 + (value >> 8) * max_puts + (value & 0xff);
  };
  const auto each = [&](auto&& f) {
    for (const auto& t : threads_) {
      for (std::size_t i = 0; i < t.size(); ++i) {
        const auto end = i + 1 < t.size() ? t.starts_[i + 1] : t.accesses_.size();
        f(t, i, static_cast<node>(t.attempt(i)), t.accesses_.data() + t.starts_[i],
          t.accesses_.data() + end);
      }
    }
  };
  std::string wrong;
  each([&](const recorded_thread& t, std::size_t i, node me, auto* a, auto* end) {
    committed[me] = t.committed_[i];
    for (; a != end && committed[me]; ++a) {
      if (a->put == 0) continue;
      auto& by = replaced_by[number_of(a->found)];
      if (by != 0) {
        wrong = "attempts " + text(by) + " and " + text(me) + " both replaced one value of cell " +
                text(a->cell);
      }
      by = me;
    }
  });
  std::vector<edge> edges;
  each([&](const recorded_thread& t, std::size_t i, node me, auto* a, auto* end) {
    if (i > 0) edges.push_back({static_cast<node>(t.attempt(i - 1)), me});
    for (; a != end; ++a) {
      const auto writer = a->found >> 8;
      if (writer >= num_nodes || !committed[writer]) {
        wrong = "attempt " + text(me) + " found in cell " + text(a->cell) +
                " a value that attempt " + text(writer) + " wrote and never committed";
        return;
      }
      if (writer != me) edges.push_back({static_cast<node>(writer), me});
      const auto next = replaced_by[number_of(a->found)];
      if (next != 0 && next != me) edges.push_back({me, next});
    }
  });
  if (!wrong.empty()) return wrong;
  const auto cycle = cycle_in(num_nodes, edges);
  return cycle.empty() ? "" : "no order: " + cycle;
}

}  // namespace cairn::support
