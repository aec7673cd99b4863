// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <cairn/net/loggp.hpp>

namespace cairn {

/// The costs that make up a simulated cluster's time. The defaults are round numbers for current
/// hardware, not measurements; cairn bench sim measures them.
struct cluster_costs {
  net::loggp network = {};
  double message_ns = 5;  ///< per message, at its sender (also if filtered) and at its handler
  double edge_ns = 1;     ///< per edge visited
  double owner_ns = 1;    ///< per owner lookup made to address a message; several ranks only
  double commit_ns = 10;  ///< per activity

  /// Sets one of latency_us, overhead_us, gap_us, byte_ns, message_ns, edge_ns, owner_ns and
  /// commit_ns, if `name` is one of them and `value` is a number from 0 to 1e9. Returns whether it
  /// did.
  bool set(std::string_view name, std::string_view value);
  bool set(std::string_view name, double value);
  /// Whether `name` is one of these names.
  [[nodiscard]] static bool knows(std::string_view name) noexcept;

  /// The median of each cost separately, over one or more measurements.
  [[nodiscard]] static cluster_costs median(std::span<const cluster_costs> found);

  /// {"latency_us": 1.5, ...}: names and values that set() accepts.
  [[nodiscard]] std::string text() const;
};

}  // namespace cairn
