// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cairn/activity/commit.hpp>
#include <cairn/tm/cell.hpp>
#include <cairn/tm/fallback_lock.hpp>

namespace cairn::activity {

/// one_lock: an operator holds the single lock of the domain.
class commit_one_lock {
 public:
  commit_one_lock(domain& data, worker_t k) noexcept : data_(&data), worker_(k) {}

  template <class Op>
  run_of<Op> one(const Op& op, const typename Op::message& m) const {
    const tm::fallback_lock::guard held(data_->fallback(), data_->relax());
    data_->count_waits(worker_, held.waited());
    return shape<Op>::run(op, tm::section_access{}, m);
  }

 private:
  domain* data_;
  worker_t worker_;
};

}  // namespace cairn::activity
