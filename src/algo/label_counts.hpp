// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <cairn/base/types.hpp>

namespace cairn::algo {

/// Finds the most frequent of the labels that a vertex sees. One per worker.
///
/// A branch-free pass first tests whether the vertex's own label has more than half of the votes,
/// which is frequent. Otherwise few labels are compared in pairs, and more labels are counted in a
/// hash table with at least twice as many slots. The table fits the cache unless the degree is
/// large.
///
/// Memory    O(largest number of labels)
template <class Id>
class label_counts {
 public:
  /// The most frequent label, of several the smallest. There is at least one.
  ///
  /// likely    the vertex's own label
  [[nodiscard]] Id most_frequent(std::span<const Id> labels, Id likely) {
    if (labels.size() <= 2) return std::min(labels.front(), labels.back());
    if (labels.size() <= few) return of_few(labels);
    if (std::is_sorted(labels.begin(), labels.end())) return longest_run(labels);
    const auto votes = static_cast<std::size_t>(std::count(labels.begin(), labels.end(), likely));
    return 2 * votes > labels.size() ? likely : count(labels);
  }

 private:
  static constexpr std::size_t few = 16;

  struct place {
    Id label = no_vertex<Id>;
    std::uint32_t votes = 0;
  };

  // Branches on labels would be unpredictable.
  static Id of_few(std::span<const Id> labels) {
    Id best = labels[0];
    unsigned max_votes = 0;
    for (const Id x : labels) {
      unsigned votes = 0;
      for (const Id y : labels) votes += x == y ? 1 : 0;
      const bool better = (votes > max_votes) | ((votes == max_votes) & (x < best));
      best = better ? x : best;
      max_votes = better ? votes : max_votes;
    }
    return best;
  }

  // In the first iteration labels are ids, so most rows are ascending.
  static Id longest_run(std::span<const Id> ascending) {
    Id best = ascending[0];
    std::size_t max_votes = 1, votes = 1;
    for (std::size_t i = 1; i < ascending.size(); ++i) {
      votes = ascending[i] == ascending[i - 1] ? votes + 1 : 1;
      const bool better = votes > max_votes;
      best = better ? ascending[i] : best;
      max_votes = better ? votes : max_votes;
    }
    return best;
  }

  Id count(std::span<const Id> labels) {
    const auto places = std::bit_ceil(2 * labels.size());
    if (table_.size() < places) table_.resize(places);
    const int shift = 64 - std::countr_zero(places);
    used_.clear();
    place best;
    for (const Id x : labels) {
      auto at = static_cast<std::size_t>(x * std::uint64_t{0x9e3779b97f4a7c15} >> shift);
      while (table_[at].label != x && table_[at].label != no_vertex<Id>)
        at = (at + 1) & (places - 1);
      auto& p = table_[at];
      if (p.votes == 0) used_.push_back(at);
      p.label = x;
      ++p.votes;
      if (p.votes > best.votes || (p.votes == best.votes && x < best.label)) best = p;
    }
    for (const auto at : used_) table_[at] = {};
    return best.label;
  }

  std::vector<place> table_;  // by hash of the label; empty between calls
  std::vector<std::size_t> used_;
};

}  // namespace cairn::algo
