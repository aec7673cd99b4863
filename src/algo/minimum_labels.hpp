// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <cairn/activity/executor.hpp>
#include <cairn/core/world.hpp>
#include <cairn/pgas/vertex_map.hpp>
#include <cairn/traverse/bit_set.hpp>
#include <cairn/traverse/push.hpp>

#include "algo/pointer_jumping.hpp"

namespace cairn::algo {

/// Minimum-label components: lowers labels until no vertex has a larger label than a neighbor, so
/// that all vertices of a component have its smallest label.
///
/// A vertex whose label was lowered sends it to its neighbors in the next round. Labels of
/// vertices of this rank are lowered at once, so a label may travel several edges per round.
///
/// A long path whose vertices alternate between ranks would take as many rounds as it has edges.
/// So after every few rounds the trees that labels form are joined and flattened: a label is a
/// vertex of the same component, and has a label in turn. Then the number of rounds grows with the
/// logarithm of the path's length.
template <class Id>
class minimum_labels {
  struct lower {  // the operator: the smallest label wins
    struct message {
      Id v, label;
    };
    static constexpr bool permanent = true, sends = false;
    pgas::vertex_view<Id> labels;
    minimum_labels& p;

    auto cell(const message& m) const { return labels.at(m.v); }
    bool wanted(Id label, const message& m) const { return m.label < label; }
    bool attempt(auto label, const message& m) const { return m.label < label.lower(m.label); }
    void after(const message& m) { p.next_.set_shared(m.v - p.label_.first()); }
  };

 public:
  /// label    initial labels, lowered in place
  minimum_labels(world& w, pgas::vertex_map<Id>& label, const activity::options& opt)
      : w_(w),
        label_(label),
        lower_(w, lower{label.view(), *this}, opt),
        now_(w, label.local().size()),
        next_(w, label.local().size()) {}

  /// neighbors   neighbors(v, f) calls f(u) for each neighbor u of vertex v of this rank; must be
  ///             symmetric
  /// Returns     the number of rounds
  template <class Neighbors>
  std::uint64_t run(Neighbors&& neighbors) {
    for (std::size_t i = 0; i < label_.local().size(); ++i) next_.set(i);
    std::uint64_t rounds = 0;
    for (; w_.any(next_.any()); ++rounds) {
      if (rounds % rounds_until_joined == 0) {
        if (rounds != 0) join_and_flatten();
        before_.assign(label_.local().begin(), label_.local().end());
      }
      std::swap(now_, next_);
      round(neighbors);
      now_.clear();
    }
    return rounds;
  }

  [[nodiscard]] activity::ran ran() const { return lower_.ran(); }

 private:
  // A graph whose vertices are few edges apart needs fewer rounds.
  static constexpr std::uint64_t rounds_until_joined = 8;

  void join_and_flatten() {
    const auto own = label_.local().size();
    // The former label of a vertex gets its new one: the trees of both are joined.
    traverse::push_ranges(
        w_, lower_, own,
        [&](auto& send, worker_t, std::size_t begin, std::size_t end) {
          for (auto i = begin; i < end; ++i) {
            const Id label = label_.load(label_.first() + i);
            if (label != before_[i]) send({before_[i], label});
          }
          return std::uint64_t{0};
        },
        traverse::chunk_of(w_, own, 5));
    if (!jumping_) jumping_.emplace(w_, label_);
    jumping_->flatten([this](Id v) { next_.set_shared(v - label_.first()); });
  }

  void round(auto& neighbors) {
    constexpr double ns_of_word = 64 * 40;  // all 64 vertices send to their neighbors
    const auto words = now_.words().size();
    traverse::push_ranges(
        w_, lower_, words,
        [&](auto& send, worker_t, std::size_t begin, std::size_t end) {
          std::uint64_t looked = 0;
          now_.for_each(begin, end, [&](std::size_t i) {
            const auto v = static_cast<Id>(label_.first() + i);
            const Id label = label_.load(v);
            neighbors(v, [&](Id u) {
              send({u, label});
              ++looked;
            });
          });
          return looked;
        },
        traverse::chunk_of(w_, words, ns_of_word));
  }

  world& w_;
  pgas::vertex_map<Id>& label_;
  activity::executor<lower> lower_;
  traverse::bit_set now_, next_;  // vertices of this rank that send to their neighbors
  std::vector<Id> before_;        // labels after they were last joined
  std::optional<pointer_jumping<Id>> jumping_;
};

}  // namespace cairn::algo
