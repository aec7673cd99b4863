// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include <cairn/am/channel.hpp>
#include <cairn/am/request.hpp>
#include <cairn/base/random.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/pgas/vertex_map.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/traverse/push.hpp>

#include "algo/sort.hpp"

namespace cairn::algo {

/// A bounded cache of pairs: insert() may return true again for a pair, and returns true the first
/// time. Without room for entries it always returns true.
template <class Id>
class recent_pairs {
 public:
  using pair = std::pair<Id, Id>;

  void reserve(std::size_t entries) {
    if (entries == 0) return;
    slots_.assign(std::bit_ceil(entries + 1), {no_vertex<Id>, no_vertex<Id>});
  }
  bool insert(const pair& p) {
    if (slots_.empty()) return true;
    // Pairs with the same second do not collide if there are as many slots as firsts.
    auto& slot = slots_[(p.first ^ mix64(p.second)) & (slots_.size() - 1)];
    return std::exchange(slot, p) != p;
  }

 private:
  std::vector<pair> slots_;
};

/// The graph whose vertices are the roots of all ranks' trees and whose edges are the pairs of
/// roots of different ranks that an edge of the input connects.
///
/// The owner of an edge's source sends the source's root to the owner of the target. An undirected
/// edge is sent from both endpoints; for a directed edge the target's owner answers with the
/// target's root.
template <class Id>
class root_graph {
  struct root_message {
    Id vertex, root;  // a vertex of the receiving rank, a root of the sending rank
  };
  using pair = std::pair<Id, Id>;  // a root of this rank and one of another rank

 public:
  /// root    of each vertex of this rank
  /// Collective.
  root_graph(world& w, const graph::dist_csr<Id>& g, const pgas::vertex_map<Id>& root)
      : w_(w), g_(g), root_(root), seen_(w.workers()) {
    const auto n = static_cast<std::size_t>(g.num_vertices());
    for (auto& s : seen_) {
      s.value.sent.reserve(std::min(n, w.options().filter_entries));
      s.value.received.reserve(std::min(n, max_received));
    }
    exchange_roots();
    for (auto& s : seen_) {
      append_interruptibly(w_, pairs_, s.value.pairs);
      s.value = {};
    }
    sort_interruptibly(w_, pairs_, std::less<>());
    pairs_.erase(std::unique(pairs_.begin(), pairs_.end()), pairs_.end());
  }

  /// Calls f(u) for each root u of another rank that is adjacent to root v of this rank.
  template <class F>
  void neighbors(Id v, F&& f) const {
    for (auto at = std::lower_bound(pairs_.begin(), pairs_.end(), pair{v, 0});
         at != pairs_.end() && at->first == v; ++at) {
      f(at->second);
    }
  }

 private:
  static constexpr std::size_t max_received = 4096;
  static constexpr double ns_of_vertex = 40;  // two binary searches in a row, and few messages

  struct worker_state {
    recent_pairs<Id> sent, received;
    std::vector<pair> pairs;
  };

  void record_pair(worker_t k, Id own, Id other) {
    auto& s = seen_[k];
    if (s.received.insert({own, other})) s.pairs.emplace_back(own, other);
  }

  // Records a pair; returns the root of this rank's vertex m.vertex.
  Id record_message(worker_t k, const root_message& m) {
    const Id own = root_.load(m.vertex);
    record_pair(k, own, m.root);
    return own;
  }

  void exchange_roots() {
    if (g_.directed()) {
      using request = am::request<Id, Id>;  // the ticket's slot is the sender's root
      request messages(
          w_,
          [this, &messages](worker_t k, rank_t from,
                            std::span<const typename request::ticketed_question> batch) {
            auto answer = messages.answer_from(k);
            for (const auto& [by, here] : batch) {
              answer(from, by, record_message(k, {here, static_cast<Id>(by.number())}));
            }
          },
          [this](worker_t k, std::uint64_t own, Id other) {
            record_pair(k, static_cast<Id>(own), other);
          });
      struct asking {
        request& messages;
        auto from(worker_t k) const {
          return [ask = messages.from(k)](rank_t to, const root_message& m) mutable {
            ask(to, m.vertex, am::slot(m.root));
          };
        }
      };
      asking through{messages};
      send_all(through);
    } else {
      am::channel<root_message> messages(w_,
                                         [this](worker_t k, std::span<const root_message> batch) {
                                           for (const auto& m : batch) record_message(k, m);
                                         },
                                         {.sends = false});
      send_all(messages);
    }
  }

  template <class Through>
  void send_all(Through& through) {
    const auto first = g_.out().first(), last = g_.out().last();
    traverse::push_ranges(
        w_, through, last - first,
        [&](auto& send, worker_t k, std::size_t begin, std::size_t end) {
          std::uint64_t visited = 0;
          for (auto v = static_cast<Id>(first + begin); v < first + end; ++v) {
            const auto row = g_.out().neighbors(v);
            const Id mine = root_.load(v);
            const auto send_root_to = [&](Id u) {
              if (seen_[k].sent.insert({u, mine})) send(root_.owner(u), {u, mine});
            };
            const auto own = std::lower_bound(row.begin(), row.end(), first);
            const auto after = std::lower_bound(own, row.end(), last);
            std::for_each(row.begin(), own, send_root_to);
            std::for_each(after, row.end(), send_root_to);
            visited += row.size() - static_cast<std::uint64_t>(after - own);
          }
          return visited;
        },
        traverse::chunk_of(w_, last - first, ns_of_vertex));
  }

  world& w_;
  const graph::dist_csr<Id>& g_;
  const pgas::vertex_map<Id>& root_;
  task::per_worker<worker_state> seen_;
  std::vector<pair> pairs_;  // sorted
};

}  // namespace cairn::algo
