// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include <cairn/base/contract.hpp>

namespace cairn::support {

/// Whether an operation is possible on an object with a given value, and the value afterwards.
struct effect {
  bool possible;
  std::uint64_t after;
};

/// Whether events are linearizable: whether each can take effect at a single time between its
/// beginning and its end, on an object with the initial value `initial`. Searches all orders; at
/// most 64 events, of which few overlap.
///
/// Event   has began and ended, by a clock that all ranks share
/// Apply   effect apply(event, value)
template <class Event, class Apply>
class history_search {
 public:
  history_search(const std::vector<Event>& events, Apply apply)
      : events_(events), apply_(std::move(apply)) {
    CAIRN_EXPECTS(events_.size() <= 64);
  }
  [[nodiscard]] bool linearizable(std::uint64_t initial) { return search(initial, 0); }

 private:
  // Whether the events that are not in `done` can follow, on an object with the value `value`.
  bool search(std::uint64_t value, std::uint64_t done) {
    std::uint64_t first_end = ~std::uint64_t{0};
    bool any = false;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if ((done >> i & 1) != 0) continue;
      any = true;
      first_end = std::min(first_end, events_[i].ended);
    }
    if (!any) return true;
    if (!seen_.insert({done, value}).second) return false;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if ((done >> i & 1) != 0 || events_[i].began > first_end) continue;
      const auto [possible, after] = apply_(events_[i], value);
      if (possible && search(after, done | std::uint64_t{1} << i)) return true;
    }
    return false;
  }

  const std::vector<Event>& events_;
  Apply apply_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen_;
};

}  // namespace cairn::support
