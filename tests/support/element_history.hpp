// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include <cairn/base/contract.hpp>
#include <cairn/pgas/element_access.hpp>

namespace cairn::support {

/// An operation on one element, as its task saw it.
struct element_event {
  pgas::access how = pgas::access::get;
  std::uint64_t x = 0, expected = 0;   // operands
  std::uint64_t found = 0;             // what it returned; of no meaning for put
  std::uint64_t began = 0, ended = 0;  // by a clock that all ranks share
};

/// Whether the events could have taken place one after another, each at some time between its
/// beginning and its end, on an element that held `initial` at first. Searches all orders; at most
/// 64 events, of which few overlap.
class element_history {
 public:
  element_history(std::uint64_t initial, std::vector<element_event> events)
      : events_(std::move(events)) {
    CAIRN_EXPECTS(events_.size() <= 64);
    linearizable_ = search(initial, 0);
  }
  [[nodiscard]] bool linearizable() const noexcept { return linearizable_; }

 private:
  struct effect {
    bool possible;
    std::uint64_t after;
  };
  static effect apply(const element_event& e, std::uint64_t value) {
    using pgas::access;
    if (e.how == access::put) return {true, e.x};
    if (e.found != value) return {false, value};
    switch (e.how) {
      case access::exchange:
        return {true, e.x};
      case access::compare_exchange:
        return {true, value == e.expected ? e.x : value};
      case access::add:
        return {true, value + e.x};
      case access::minimum:
        return {true, std::min(value, e.x)};
      case access::maximum:
        return {true, std::max(value, e.x)};
      default:
        return {true, value};
    }
  }

  // Whether the events that are not in `done` can follow, on an element that holds `value`.
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
      const auto [possible, after] = apply(events_[i], value);
      if (possible && search(after, done | std::uint64_t{1} << i)) return true;
    }
    return false;
  }

  std::vector<element_event> events_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen_;
  bool linearizable_ = false;
};

}  // namespace cairn::support
