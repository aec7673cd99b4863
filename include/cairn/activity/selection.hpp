// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <cairn/base/contract.hpp>
#include <cairn/base/random.hpp>

namespace cairn::activity {

/// Which elements a coarse operator takes together.
///
///   contiguous  neighbours in memory: few cache lines, so few locks and small transactions
///   random      any: what is heavy in one stretch of the ids is spread over all groups
enum class selection { contiguous, random };

/// Elements in groups of equal size, the last one perhaps smaller: for operators that users make
/// coarse themselves, because they know more of the graph than the runtime does.
///
/// The operator is a multi-cell one whose message names a group; elements() calls each(place) for
/// the group's elements, which belong to the rank that spawns the message. Groups of one object
/// share no element unless the list had it twice.
///
/// elements  ids of own elements, in any order
/// size      elements per group, at least 1
/// seed      of the random choice, which is determined by it
/// Work      O(n log n) contiguous, O(n) random;  Memory  the list
/// Throws    contract_violation for groups of no elements
/// Thread-safety: const calls may overlap
/// Source    [AAM15] section 3.4: the number of elements of an operator and how they are selected
template <class Id>
class groups {
 public:
  groups(std::vector<Id> elements, std::size_t size, selection how, std::uint64_t seed = 1)
      : elements_(std::move(elements)), size_(size) {
    CAIRN_EXPECTS(size >= 1);
    if (how == selection::contiguous) {
      std::sort(elements_.begin(), elements_.end());
      return;
    }
    random64 dice(seed);
    for (std::size_t left = elements_.size(); left > 1; --left) {
      std::swap(elements_[left - 1], elements_[dice.below(left)]);
    }
  }

  /// Groups.
  [[nodiscard]] std::size_t size() const noexcept { return (elements_.size() + size_ - 1) / size_; }

  /// The elements of group g < size().
  [[nodiscard]] std::span<const Id> operator[](std::size_t g) const noexcept {
    CAIRN_ASSERT(g < size());
    return std::span(elements_).subspan(g * size_, std::min(size_, elements_.size() - g * size_));
  }

 private:
  std::vector<Id> elements_;
  std::size_t size_;
};

}  // namespace cairn::activity
