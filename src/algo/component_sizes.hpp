// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include <cairn/activity/executor.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/pgas/vertex_map.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/traverse/chunk.hpp>
#include <cairn/traverse/own.hpp>
#include <cairn/traverse/push.hpp>

#include "algo/frequent_value.hpp"

namespace cairn::algo {

/// The number of components and the size of the largest, from component labels. A label is a vertex
/// of its component whose label is itself.
///
/// Work      O(n)
/// Collective: constructor.
template <class Id>
class component_sizes {
 public:
  component_sizes(world& w, const pgas::vertex_map<Id>& label) : w_(w), label_(label) {
    const auto n = label.partition().n();
    const auto [roots, size] = count(most_frequent<Id>(w, frequent_value<Id>(label.local())));
    num_components = roots;
    largest = size >= n - size ? size : largest_of_all();
  }

  std::uint64_t num_components = 0, largest = 0;

 private:
  struct counts {
    std::uint64_t roots = 0, vertices = 0;  // roots; vertices with the given label
  };

  counts count(Id root) const {
    constexpr double ns_of_vertex = 0.5;  // approximate; the loop is vectorised
    task::per_worker<counts> parts(w_.workers());
    traverse::for_own_ranges(
        w_, label_,
        [&](worker_t k, std::uint64_t first, std::uint64_t last) {
          const auto* const labels = label_.local().data() - label_.first();
          Id roots = 0, vertices = 0;  // of the labels' width, which lets the loop use vectors
          for (auto v = static_cast<Id>(first); v < static_cast<Id>(last); ++v) {
            roots += labels[v] == v ? 1 : 0;
            vertices += labels[v] == root ? 1 : 0;
          }
          parts[k] = {parts[k].roots + roots, parts[k].vertices + vertices};
        },
        ns_of_vertex);
    std::array<std::uint64_t, 2> all{};
    for (const auto& p : parts) all = {all[0] + p.value.roots, all[1] + p.value.vertices};
    w_.sum_each(all);
    return {all[0], all[1]};
  }

  struct enlarge {  // the operator: adds to the size of a component
    struct message {
      Id root, vertices;
    };
    pgas::vertex_map<Id>& size;

    auto cell(const message& m) const { return size.at(m.root); }
    bool wanted(Id, const message&) const { return true; }
    void attempt(auto cell, const message& m) const { cell.add(m.vertices); }
  };

  std::uint64_t largest_of_all() const {
    pgas::vertex_map<Id> size(w_, label_.partition(), 0);
    activity::executor<enlarge, activity::mechanism::atomics> add(w_, enlarge{size},
                                                                  {.sent_filter = false});
    const auto own = label_.local();
    traverse::push_ranges(
        w_, add, own.size(),
        [&](auto& send, worker_t, std::size_t begin, std::size_t end) {
          std::array<typename enlarge::message, 1024> counted{};  // by label modulo 1024
          const auto flush = [&](auto& c) {
            if (c.vertices != 0) send(c);
          };
          for (const Id label : own.subspan(begin, end - begin)) {
            auto& c = counted[label % counted.size()];
            if (c.root != label) {
              flush(c);
              c = {label, 0};
            }
            ++c.vertices;
          }
          for (auto& c : counted) flush(c);
          return std::uint64_t{0};
        },
        traverse::chunk_of(w_, own.size(), 5));
    const auto all = std::as_const(size).local();
    return w_.max(all.empty() ? 0 : std::uint64_t{*std::max_element(all.begin(), all.end())});
  }

  world& w_;
  const pgas::vertex_map<Id>& label_;
};

}  // namespace cairn::algo
