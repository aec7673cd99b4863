// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include <cairn/am/ledger.hpp>
#include <cairn/core/progress.hpp>
#include <cairn/core/receiver.hpp>
#include <cairn/core/world.hpp>
#include <cairn/task/spin_lock.hpp>

namespace cairn::am {

/// What a worker says of itself when it asks whether the epoch has ended.
enum class activity_state { busy, idle };

/// A span of time in which ranks exchange messages, and whose end is agreed by all.
///
/// It has ended once every message sent in the epoch, by any rank and by any handler, has been
/// handled and every hold been released; all that handlers wrote is visible then. A message that
/// a fast rank sends in its next epoch waits until the slow rank gets there.
///
/// There are two ways to end it. The body calls close() on worker 0, which blocks. Or all workers
/// call try_close() in the loop of one job, which does not:
///
///   world.run([&](worker_t w) {
///     while (!epoch.try_close(w, queue[w].empty() ? idle : busy)) work_on(queue[w]);
///   });
///
/// An epoch that an exception leaves is abandoned: its messages are discarded. Where there are
/// several ranks that is only good for leaving the body; another epoch or collective then fails
/// the world, because the other ranks wait for this one.
///
/// Messages   two waves (reductions of two words, ceil(log2 P) rounds each) after the last
///            message, more while messages fly. Alone: none.
/// Throws     peer_failure and cancelled from close() and try_close(); contract_violation if an
///            epoch is open already.
/// Collective: the ranks open and close their epochs in the same order; one at a time.
/// Source     [DC15] AM++ epochs; the end is found by ledger.hpp.
class [[nodiscard("an epoch ends with close()")]] epoch {
 public:
  explicit epoch(world & w);
  ~epoch();
  epoch(const epoch&) = delete;
  epoch& operator=(const epoch&) = delete;

  /// Waits for the end. Worker 0 of every rank, outside jobs.
  void close();

  /// Takes messages in, runs their handlers and drives the waves. Ships old buffers, and all of
  /// an idle worker. Returns true to all workers of all ranks once the epoch has ended. Called
  /// by every worker inside one job, any number of times.
  [[nodiscard]] bool try_close(worker_t w, activity_state state);

  /// n pieces of work of worker w that may send later, such as entries of a queue, keep the epoch
  /// from ending until they are released, after what they send was sent; on any worker.
  void hold(worker_t w, std::uint64_t n = 1) noexcept;
  void release(worker_t w, std::uint64_t n = 1) noexcept;

 private:
  void drive_waves(worker_t w);

  world& world_;
  bool open_ = true;
  // Of the waves; one worker at a time drives them.
  task::spin_lock driving_;
  ledger ledger_;
  bool wave_is_running_ = false;
  std::atomic<bool> ended_{false};
};

/// epoch::hold and release for work that does not know the open epoch, such as a queue below it.
inline void hold(world& w, worker_t k, std::uint64_t n = 1) noexcept { w.messages().hold(k, n); }
inline void release(world& w, worker_t k, std::uint64_t n = 1) noexcept {
  w.messages().release(k, n);
}

/// Returns once all messages that any rank has sent on a standing channel have been handled, or
/// when the world is poisoned or cancelled. The ledger decides, as for epochs.
///
/// Collective  by worker 0 outside jobs; only handlers send on the channel any more
void finish_standing(world& w, receiver& r) noexcept;

}  // namespace cairn::am
