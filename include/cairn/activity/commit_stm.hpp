// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <cairn/activity/commit.hpp>

namespace cairn::activity {

/// stm: a group is one software transaction. Operators that it gives up on run in an irrevocable
/// transaction, which waits instead of aborting.
class commit_stm {
 public:
  commit_stm(domain& data, worker_t k) : runner_(&data.software(k)) {}

  template <multi_cell Op>
  std::size_t group(const Op& op, const typename Op::message* messages, std::size_t n,
                    run_of<Op>* ran) const {
    auto body = detail::body_of(op, messages, ran);
    auto pretouch = detail::pretouch_of(op, messages);
    auto irrevocable = [&](std::size_t first, std::size_t last) {
      body(runner_->hardware().cell_access(), first, last);
    };
    return runner_->run_group(tm::unsubscribed{}, 0, n, body, irrevocable, pretouch);
  }

 private:
  software_sections* runner_;
};

}  // namespace cairn::activity
