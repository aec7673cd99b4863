// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <cairn/activity/commit.hpp>
#include <cairn/tm/cell.hpp>
#include <cairn/tm/fallback_lock.hpp>

namespace cairn::activity {

/// htm: a group is one transaction, in hardware or emulated. Operators that the transaction gives
/// up on run one by one. Single-cell operators then use atomics, which transactions notice.
/// Multi-cell operators hold the domain's fallback lock, which transactions have read.
template <class Sections>
class commit_sections {
 public:
  commit_sections(domain& data, worker_t k)
      : data_(&data), runner_(&sections(data, k)), worker_(k) {}

  template <class Op>
  std::size_t group(const Op& op, const typename Op::message* messages, std::size_t n,
                    run_of<Op>* ran) const {
    auto body = detail::body_of(op, messages, ran);
    auto pretouch = detail::pretouch_of(op, messages);
    if constexpr (single_cell<Op>) {
      auto one_by_one = [&](std::size_t first, std::size_t last) {
        body(tm::atomic_access{}, first, last);
      };
      return runner_->run_group(tm::unsubscribed{}, 0, n, body, one_by_one, pretouch);
    } else {
      auto locked = [&](std::size_t first, std::size_t last) {
        data_->count_fallback(worker_);
        const tm::fallback_lock::guard held(data_->fallback(), data_->relax());
        data_->count_waits(worker_, held.waited());
        body(tm::section_access{}, first, last);
      };
      const auto committed =
          runner_->run_group(tm::subscribed(data_->fallback()), 0, n, body, locked, pretouch);
      data_->count_activities(worker_, committed);
      return committed;
    }
  }

 private:
  static Sections& sections(domain& data, worker_t k) {
    if constexpr (std::is_same_v<Sections, rtm_sections>) {
      return data.rtm(k);
    } else {
      return data.emulated(k);
    }
  }

  domain* data_;
  Sections* runner_;
  worker_t worker_;
};

using commit_htm = commit_sections<rtm_sections>;
using commit_emulated_htm = commit_sections<emulated_sections>;

}  // namespace cairn::activity
