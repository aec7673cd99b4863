// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include <cairn/graph/labels.hpp>

namespace cairn::algo {

/// Violations of the rules of verify_bfs.hpp, the most informative first.
enum class bfs_violation : std::uint32_t {
  none,
  root_unreached,
  root_has_parent,
  second_root,
  no_such_parent,  ///< u is v's parent for this value, the next two and wrong_step
  parent_unreached,
  no_such_edge,
  cycle,  ///< u is the root
  wrong_step,
  root_depth,
  depth_missing,
  parent_missing,
  skips_depths,  ///< on edge u -> v
  missed,        ///< on edge u -> v
  no_predecessor,
};

/// One violation, as sent between ranks.
struct bfs_finding {
  bfs_violation rule = bfs_violation::none;
  std::uint64_t v = 0, u = 0, depth_v = 0, depth_u = 0;

  [[nodiscard]] explicit operator bool() const noexcept { return rule != bfs_violation::none; }
  /// The one to report.
  [[nodiscard]] static const bfs_finding& first(const bfs_finding& a, const bfs_finding& b) {
    if (!a) return b;
    if (!b) return a;
    return std::tie(b.rule, b.v, b.u) < std::tie(a.rule, a.v, a.u) ? b : a;
  }
};

/// The violated rule and the vertices involved, as one sentence.
[[nodiscard]] std::string to_sentence(const bfs_finding& f, const graph::labels& names);

}  // namespace cairn::algo
