// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <cairn/base/contract.hpp>

namespace cairn::am {

/// Values under small numbers, the slots: what a worker remembers of each question until its answer
/// comes. A slot that is free is used again before another one is made.
///
/// Cost      O(1)
/// Memory    of the most values that were in it at once
template <class T>
class slot_table {
 public:
  /// Returns   the value's slot
  [[nodiscard]] std::uint64_t put(const T& value) {
    if (free_.empty()) {
      values_.push_back(value);
      return values_.size() - 1;
    }
    const auto slot = free_.back();
    free_.pop_back();
    values_[slot] = value;
    return slot;
  }
  /// Takes a value out; its slot becomes free.
  [[nodiscard]] T take(std::uint64_t slot) {
    CAIRN_ASSERT(slot < values_.size());
    free_.push_back(slot);
    return values_[slot];
  }
  [[nodiscard]] std::uint64_t size() const noexcept { return values_.size() - free_.size(); }

 private:
  std::vector<T> values_;
  std::vector<std::uint64_t> free_;
};

}  // namespace cairn::am
