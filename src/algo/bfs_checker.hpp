// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include <cairn/am/channel.hpp>
#include <cairn/am/request.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/pgas/accumulator.hpp>
#include <cairn/pgas/vertex_map.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/traverse/own.hpp>
#include <cairn/traverse/push.hpp>
#include <cairn/traverse/rows.hpp>

#include "algo/bfs_violation.hpp"

namespace cairn::algo {

/// One worker's cache of sent edges: for each target the smallest source depth so far. An edge from
/// a depth that is no smaller need not be sent.
template <class Id>
class sent_depths {
 public:
  sent_depths() = default;
  sent_depths(std::uint64_t vertices, std::size_t max_entries)
      : slots_(max_entries == 0 ? 0
                                : std::bit_floor(std::min(std::bit_ceil(vertices),
                                                          std::uint64_t{max_entries}))) {}

  /// Returns whether the edge must be sent, and records it.
  bool insert(Id v, Id depth) {
    if (slots_.empty()) return true;
    auto& slot = slots_[v & (slots_.size() - 1)];
    if (slot.v == v && slot.depth <= depth) return false;
    slot = {v, depth};
    return true;
  }

 private:
  struct entry {
    Id v = no_vertex<Id>, depth = 0;
  };
  std::vector<entry> slots_;
};

/// The checks of verify_bfs.hpp. Each check is collective and records violations at the rank that
/// finds them. found() returns the one to report.
template <class Id>
class bfs_checker {
  using map = pgas::vertex_map<Id>;

 public:
  bfs_checker(world& w, const graph::dist_csr<Id>& g, Id root)
      : w_(w),
        g_(g),
        root_(root),
        first_(g.partition().first(w.rank())),
        own_(g.partition().size(w.rank())),
        found_(w.workers()) {
    CAIRN_EXPECTS(root < g.num_vertices(), "the root is a vertex");
  }

  /// Checks each vertex on its own: the root has no parent, no other vertex is its own parent.
  void check_vertices(const map& parent, const map* depth) {
    each_own_vertex([&](worker_t k, Id v) {
      const Id p = parent.load(v);
      if (v == root_) {
        if (p == no_vertex<Id>) note(k, {bfs_violation::root_unreached, v});
        if (p != v) note(k, {bfs_violation::root_has_parent, v});
      } else if (p == v) {
        note(k, {bfs_violation::second_root, v, root_});
      }
      if (p != no_vertex<Id> && p >= g_.num_vertices()) {
        note(k, {bfs_violation::no_such_parent, v, p});
      }
      if (!depth) return;
      const Id d = depth->load(v);
      if (p != no_vertex<Id> && d == no_vertex<Id>) {
        note(k, {bfs_violation::depth_missing, v});
      } else if (p == no_vertex<Id> && d != no_vertex<Id>) {
        note(k, {bfs_violation::parent_missing, v, 0, d});
      } else if (v == root_ && d != 0) {
        note(k, {bfs_violation::root_depth, v, 0, d});
      }
    });
  }

  /// Checks that each parent has an edge to its child and that their depths, if given, differ by
  /// one. Requires that check_vertices found nothing.
  void check_tree(const map& parent, const map* depth) {
    struct tree_edge {
      Id at, child, depth;
    };
    // The child's row is local and usually short; the parent's row is often long.
    const bool child_knows = g_.has_in();
    const auto has = [](std::span<const Id> row, Id v) {
      return std::binary_search(row.begin(), row.end(), v);
    };
    send_and_check<tree_edge>(
        ns_of_tree_edge,
        [&](worker_t k, Id v, auto& send) {
          const Id p = parent.load(v);
          if (v == root_ || p == no_vertex<Id>) return;
          if (child_knows && !has(g_.in().neighbors(v), p)) {
            note(k, {bfs_violation::no_such_edge, v, p});
          }
          send({p, v, depth ? depth->load(v) : Id{0}});
        },
        [&](worker_t k, const tree_edge& m) {
          if (parent.load(m.at) == no_vertex<Id>) {
            note(k, {bfs_violation::parent_unreached, m.child, m.at});
          } else if (!child_knows && !has(g_.out().neighbors(m.at), m.child)) {
            note(k, {bfs_violation::no_such_edge, m.child, m.at});
          } else if (depth && (m.depth == 0 || depth->load(m.at) != m.depth - 1)) {
            note(k, {bfs_violation::wrong_step, m.child, m.at, m.depth, depth->load(m.at)});
          }
        });
  }

  /// Computes depths from the parents, which are vertices or no_vertex. Records vertices that do
  /// not descend from the root.
  map depths_of(const map& parent) {
    // Pointer jumping: `ancestor` is an ancestor of v and `above` the number of edges to it. In
    // each round v asks its ancestor for that vertex's ancestor; after k rounds the distance is
    // 2^k.
    map ancestor(w_, g_.partition(), no_vertex<Id>), above(w_, g_.partition(), no_vertex<Id>);
    each_own_vertex([&](worker_t, Id v) {
      ancestor.store(v, parent.load(v));
      if (parent.load(v) != no_vertex<Id>) above.store(v, v == root_ ? 0 : 1);
    });
    const auto on_the_way = [&](Id v) {
      const Id a = ancestor.load(v);
      return a != root_ && a != no_vertex<Id>;
    };

    struct step {
      Id ancestor, above;
    };
    const auto step_of = [&](Id v) -> step {
      const Id a = ancestor.load(v);
      if (a == no_vertex<Id>) return {v, 0};  // end of the path
      return {a, above.load(v)};
    };
    map next(w_, g_.partition(), no_vertex<Id>), next_above(w_, g_.partition(), 0);
    const auto take = [&](Id v, const step& s) {
      next.store(v, s.ancestor);
      next_above.store(v, s.above);
    };
    am::request<Id, step> steps(
        w_, [&](worker_t, Id v) { return step_of(v); },
        [&](worker_t, std::uint64_t v, const step& s) { take(static_cast<Id>(v), s); });

    pgas::accumulator<logical_or> waiting(w_);
    for (std::uint64_t reach = 1;; reach *= 2) {
      each_own_vertex([&](worker_t k, Id v) { waiting.accumulate(k, on_the_way(v)); });
      if (!waiting.collect()) return above;
      if (reach >= g_.num_vertices()) break;  // longer than any path
      traverse::push_own(w_, steps, g_.out(), [&](Id v, auto& ask) {
        if (!on_the_way(v)) return;
        const Id a = ancestor.load(v);
        if (owns(a)) {
          take(v, step_of(a));
        } else {
          ask(g_.partition().owner(a), a, am::slot(v));
        }
      });
      each_own_vertex([&](worker_t, Id v) {
        if (!on_the_way(v)) return;
        ancestor.store(v, next.load(v));
        above.store(v, above.load(v) + next_above.load(v));
      });
    }
    each_own_vertex([&](worker_t k, Id v) {
      if (on_the_way(v)) note(k, {bfs_violation::cycle, v, root_});
    });
    return above;
  }

  /// Checks that every edge from a reached vertex leads to a reached vertex at most one level
  /// deeper. If `marks` is not empty, marks this rank's vertices that an edge reaches from one
  /// level above.
  void check_edges(const map& depth, std::span<std::uint8_t> marks = {}) {
    struct graph_edge {
      Id at, from, depth;
    };
    task::per_worker<sent_depths<Id>> sent(w_.workers());
    if (w_.size() > 1) {
      for (auto& k : sent) k.value = {g_.num_vertices(), w_.options().filter_entries};
    }
    // Local copies: members would be reloaded for each edge, after each call.
    const auto check = [this, own = depth.local().data(), first = first_, marks](
                           worker_t k, const graph_edge& m) {
      const Id d = own[m.at - first];
      const Id max_depth = m.depth + (m.depth < no_vertex<Id> - 1 ? 1 : 0);
      if (d > max_depth) [[unlikely]] {  // no_vertex is larger than any depth
        note(k, {d == no_vertex<Id> ? bfs_violation::missed : bfs_violation::skips_depths, m.at,
                 m.from, d, m.depth});
      } else if (!marks.empty() && d > m.depth) {
        std::atomic_ref(marks[m.at - first]).store(1, std::memory_order_relaxed);
      }
    };
    send_and_check<graph_edge>(
        traverse::ns_of_row(static_cast<double>(g_.out().num_edges()) /
                            static_cast<double>(std::max<std::uint64_t>(1, own_))),
        [&](worker_t k, Id u, auto& send) {
          const Id d = depth.load(u);
          if (d == no_vertex<Id>) return;
          for (const Id v : g_.out().neighbors(u)) {
            if (owns(v) || sent[k].insert(v, d)) send({v, u, d});
          }
        },
        check);
  }

  /// Checks that the root, and no other vertex, has depth 0.
  void check_roots(const map& depth) {
    each_own_vertex([&](worker_t k, Id v) {
      const Id d = depth.load(v);
      if (v == root_ && d == no_vertex<Id>) {
        note(k, {bfs_violation::root_unreached, v});
      } else if (v == root_ && d != 0) {
        note(k, {bfs_violation::root_depth, v, 0, d});
      } else if (v != root_ && d == 0) {
        note(k, {bfs_violation::second_root, v, root_});
      }
    });
  }

  /// Checks, by the marks of check_edges, that every reached vertex except the root has an edge
  /// from one level above.
  void check_marks(const map& depth, std::span<const std::uint8_t> marks) {
    each_own_vertex([&](worker_t k, Id v) {
      const Id d = depth.load(v);
      if (d != no_vertex<Id> && v != root_ && marks[v - first_] == 0) {
        note(k, {bfs_violation::no_predecessor, v, 0, d});
      }
    });
  }

  /// The violation to report, the same on every rank.
  bfs_finding found() {
    bfs_finding mine;
    for (auto& k : found_) mine = bfs_finding::first(mine, k.value);
    bfs_finding all;
    for (const auto& f : w_.all_gather(mine)) all = bfs_finding::first(all, f);
    return all;
  }

  [[nodiscard]] std::uint64_t num_own() const noexcept { return own_; }

 private:
  static constexpr double ns_of_tree_edge = 20;

  [[nodiscard]] bool owns(Id v) const noexcept { return v - first_ < own_; }

  [[gnu::noinline, gnu::cold]] void note(worker_t k, const bfs_finding& f) {
    found_[k] = bfs_finding::first(found_[k], f);
  }

  template <class F>
  void each_own_vertex(F&& f) {
    traverse::for_each_own(w_, g_.out(), f);
  }

  /// Calls produce(worker, v, send), which takes about ns_each, for each vertex v of this rank, and
  /// check(worker, message) for each sent message, at the owner of message.at.
  template <class Message, class Produce, class Check>
  void send_and_check(double ns_each, Produce&& produce, Check&& check) {
    am::channel<Message> messages(w_, [&](worker_t k, std::span<const Message> batch) {
      for (const auto& m : batch) check(k, m);
    });
    traverse::push_ranges(
        w_, messages, own_,
        [&](auto& to, worker_t k, std::size_t begin, std::size_t end) {
          const auto send = [&, first = first_, own = own_](const Message& m) {
            if (m.at - first < own) {
              check(k, m);
            } else {
              to(g_.partition().owner(m.at), m);
            }
          };
          for (auto i = begin; i < end; ++i) produce(k, static_cast<Id>(first_ + i), send);
          return std::uint64_t{0};
        },
        traverse::chunk_of(w_, own_, ns_each));
  }

  world& w_;
  const graph::dist_csr<Id>& g_;
  const Id root_;
  const std::uint64_t first_, own_;
  task::per_worker<bfs_finding> found_;
};

}  // namespace cairn::algo
