// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include <cairn/core/world.hpp>
#include <cairn/pgas/vertex_map.hpp>
#include <cairn/traverse/own.hpp>
#include <cairn/traverse/worklist.hpp>

#include "algo/fetch.hpp"
#include "algo/wanted_ids.hpp"

namespace cairn::algo {

/// Shortens paths to roots over several ranks. A map has the parent of each vertex: itself for a
/// root.
///
/// Depth       an epoch and a reduction for each halving of the longest path, jump() without the
///             reduction
/// Collective  constructor, destructor, fetch() and flatten()
template <class Id>
class pointer_jumping {
 public:
  pointer_jumping(world& w, pgas::vertex_map<Id>& parent)
      : w_(w), parent_(parent), above_(w, parent), wanted_(w), below_(w) {}

  /// Worker k wants the parent of v, a vertex of another rank; fetch() gets the parents of all that
  /// are wanted, and parent_of(v) returns it.
  void want(worker_t k, Id v) { wanted_.add(k, v); }
  void fetch() {
    above_.choose(wanted_.take());
    above_.refresh();
  }
  [[nodiscard]] Id parent_of(Id v) const { return above_(v); }

  /// Until every vertex points at its root. Calls moved(v) for each vertex of this rank each time
  /// that it gets another parent. Returns the number of epochs.
  template <class Moved>
  std::uint64_t flatten(Moved&& moved) {
    return flatten_with([this](auto&& f) { each_own(f); }, moved);
  }
  /// Until each vertex of the ranks' lists points at its root, which it reaches along vertices of
  /// the lists and single others between them.
  template <class Moved>
  std::uint64_t flatten(std::span<const Id> some, Moved&& moved) {
    return flatten_with(each_of(some), moved);
  }

  /// Points each vertex at the parent of its parent.
  void jump() {
    halve([this](auto&& f) { each_own(f); }, [](worker_t, Id) {});
  }

 private:
  static constexpr double ns_of_vertex = 20;  // approximate

  // Points vertices at the parents of their parents. Calls moved(k, v) if these differ: otherwise v
  // points at its root. A parent that another worker replaces concurrently is an ancestor before
  // and after.
  void halve(auto&& each, auto&& moved) {
    each([&](worker_t k, Id, Id parent) {
      if (!parent_.owns(parent)) want(k, parent);
    });
    fetch();
    each([&](worker_t k, Id v, Id parent) {
      const Id next = above_(parent);
      if (next == parent) return;
      parent_.store(v, next);
      moved(k, v);
    });
  }
  std::uint64_t flatten_with(auto&& each, auto& moved) {
    const auto halve_again = [&](worker_t k, Id v) {
      moved(v);
      below_.add(k, v);
    };
    halve(each, halve_again);
    std::uint64_t epochs = 1;
    for (auto some = below_.take(); w_.any(!some.empty()); some = below_.take(), ++epochs)
      halve(each_of(some), halve_again);
    return epochs;
  }

  // each_of(list)(f) calls f(worker, v, parent) for each v of a list.
  [[nodiscard]] auto each_of(std::span<const Id> some) {
    return [this, some](auto&& f) {
      traverse::for_each_of(
          w_, some, [&](worker_t k, Id v) { f(k, v, parent_.load(v)); }, ns_of_vertex);
    };
  }
  void each_own(auto&& f) {
    traverse::for_each_own(
        w_, parent_,
        [&](worker_t k, std::uint64_t v) { f(k, static_cast<Id>(v), parent_.load(v)); },
        ns_of_vertex);
  }

  world& w_;
  pgas::vertex_map<Id>& parent_;
  fetched<Id> above_;  // parents of vertices of other ranks
  wanted_ids<Id> wanted_;
  traverse::worklist<Id> below_;  // vertices that may not point at their roots
};

}  // namespace cairn::algo
