// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <cairn/net/loggp.hpp>

namespace cairn {

/// What a simulated cluster's time is made of. Where it is not measured (cairn bench sim), these
/// are round numbers for a machine room of today, and no machine's.
struct cluster_costs {
  net::loggp network = {};
  double message_ns = 5;  ///< where it is sent, or kept back by a filter, and where it is handled
  double edge_ns = 1;     ///< looked at
  double owner_ns = 1;    ///< of several ranks, looking up whose an element is, for a message to it
  double commit_ns = 10;  ///< an activity

  /// Sets one of latency_us, overhead_us, gap_us, byte_ns, message_ns, edge_ns, owner_ns and
  /// commit_ns, if `name` is one and `value` a number from 0 to 1e9. Returns whether it did.
  bool set(std::string_view name, std::string_view value);
  bool set(std::string_view name, double value);
  /// Whether `name` is one of them.
  [[nodiscard]] static bool knows(std::string_view name) noexcept;

  /// Of each cost the median by itself, of one or more.
  [[nodiscard]] static cluster_costs median(std::span<const cluster_costs> found);

  /// {"latency_us": 1.5, ...}: names and values that set takes.
  [[nodiscard]] std::string text() const;
};

}  // namespace cairn
