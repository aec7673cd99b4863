// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cairn/core/world.hpp>

namespace cairn::am {

/// A span of time in which ranks exchange messages, and whose end is agreed by all.
///
/// close() returns on every rank once every message sent in the epoch, by any rank and by any
/// handler, has been handled; all that handlers wrote is visible then. A message that a fast
/// rank sends in its next epoch waits until the slow rank gets there.
///
/// Messages   two waves (all-gathers of two words, ceil(log2 P) rounds each) after the last
///            message, more while messages fly. Alone: none.
/// Throws     peer_failure from close(); contract_violation if an epoch is open already.
/// Collective: the ranks open and close their epochs in the same order; one at a time.
/// Source     [DC15] AM++ epochs; the end is found by ledger.hpp.
class [[nodiscard("an epoch ends with close()")]] epoch {
 public:
  explicit epoch(world & w);
  ~epoch();
  epoch(const epoch&) = delete;
  epoch& operator=(const epoch&) = delete;

  void close();

 private:
  world& world_;
  bool open_ = true;
};

}  // namespace cairn::am
