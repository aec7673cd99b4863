// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <cairn/pgas/atomic_access.hpp>

#include <support/history_search.hpp>

namespace cairn::support {

/// An operation on one element, as observed by its task.
struct element_event {
  pgas::access operation = pgas::access::get;
  std::uint64_t x = 0, expected = 0;   // operands
  std::uint64_t found = 0;             // the returned value; unused for put
  std::uint64_t began = 0, ended = 0;  // by a clock that all ranks share
};

/// Whether the events are linearizable (history_search.hpp) for an element with the initial value
/// `initial`.
class element_history {
 public:
  element_history(std::uint64_t initial, const std::vector<element_event>& events)
      : linearizable_(history_search(events, apply).linearizable(initial)) {}
  [[nodiscard]] bool linearizable() const noexcept { return linearizable_; }

 private:
  static effect apply(const element_event& e, std::uint64_t value) {
    using pgas::access;
    if (e.operation == access::put) return {true, e.x};
    if (e.found != value) return {false, value};
    switch (e.operation) {
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

  bool linearizable_;
};

}  // namespace cairn::support
