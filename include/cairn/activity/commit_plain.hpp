// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cairn/activity/commit.hpp>
#include <cairn/tm/cell.hpp>

namespace cairn::activity {

/// plain: ordinary loads and stores; the cells have one writer.
class commit_plain {
 public:
  static constexpr bool collects = false, prefilters = true;

  commit_plain(domain&, worker_t) noexcept {}

  template <class Op>
  [[gnu::always_inline]] run_of<Op> one(const Op& op, const typename Op::message& m) const {
    return shape<Op>::run(op, tm::plain_access{}, m);
  }
};

}  // namespace cairn::activity
