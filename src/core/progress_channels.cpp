// SPDX-License-Identifier: Apache-2.0
// Part of progress_engine: registers channels.
#include <mutex>

#include <cairn/base/contract.hpp>
#include <cairn/core/progress.hpp>

namespace cairn {

std::uint32_t progress_engine::attach(receiver& r, channel_kind kind, std::string_view label,
                                      int worker) {
  CAIRN_EXPECTS(worker == any_worker ||
                    (kind == channel_kind::epoch && 0 <= worker && worker < pool_.workers()),
                "an epoch channel may belong to a worker of the rank");
  task::expect_no_task();
  std::uint32_t number = 0;
  pool_.while_not_polling([&] {
    const std::lock_guard held(channels_guard_);
    number = channels_.add(r, kind, worker, label);
    try {
      inbox_.requeue_aside();
      if (trace_.wanted()) trace_.name_channel(number, label);
    } catch (...) {
      channels_.remove(number);
      throw;
    }
    if (kind == channel_kind::standing) ++num_standing_channels_;
    if (worker != any_worker) ++num_worker_channels_;
  });
  try {
    if (kind == channel_kind::standing) pool_.begin_polling();
  } catch (...) {  // no stacks for the workers of a simulated rank
    remove(number, kind, r);
    throw;
  }
  return number;
}

void progress_engine::detach(std::uint32_t number, channel_kind kind, receiver& r) {
  if (kind == channel_kind::standing) pool_.end_polling();
  remove(number, kind, r);
}

void progress_engine::remove(std::uint32_t number, channel_kind kind, receiver& r) {
  pool_.while_not_polling([&] {
    if (kind == channel_kind::standing) --num_standing_channels_;
    if (channels_.worker_of(number) != any_worker) --num_worker_channels_;
    if (r.sends()) {  // the open epoch still counts what the channel has sent in it
      for (worker_t k{0}; k < threads_; ++k) leading_before_ -= r.count(k).sent();
    }
    r.abandon();  // releases the memory charged for its blocks
    const std::lock_guard held(channels_guard_);
    channels_.remove(number);
  });
}

}  // namespace cairn
