// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include <cairn/base/contract.hpp>
#include <cairn/core/world.hpp>

namespace cairn {

/// During its lifetime the rank's loops and jobs run on worker 0 alone, and its world has one
/// worker: for work so small that sharing it costs more than it saves. Objects with one part per
/// worker that are constructed meanwhile are destroyed before it. Worker 0, outside jobs and
/// epochs; no channel is constructed meanwhile.
///
/// Throws    contract_violation if the world has several ranks
class one_worker {
 public:
  explicit one_worker(world& w) : world_(w) {
    CAIRN_EXPECTS(w.size() == 1, "one worker can work alone only if there is one rank");
    outer_ = std::exchange(w.alone_, true);
  }
  ~one_worker() { world_.alone_ = outer_; }
  one_worker(const one_worker&) = delete;
  one_worker& operator=(const one_worker&) = delete;

 private:
  world& world_;
  bool outer_ = false;
};

}  // namespace cairn
