// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

#include <cairn/am/ledger.hpp>
#include <cairn/core/progress.hpp>
#include <cairn/core/receiver.hpp>
#include <cairn/core/world.hpp>
#include <cairn/task/spin_lock.hpp>

namespace cairn::am {

/// Whether a worker has work of its own when it asks whether the epoch has ended.
enum class worker_activity { busy, idle };

/// A phase in which ranks exchange messages; all ranks agree on its end.
///
/// It has ended once every message sent in the epoch, by any rank and by any handler, has been
/// handled and every hold has been released. Everything that handlers wrote is visible then. A
/// message that a fast rank sends in its next epoch waits until the slow rank opens that epoch.
///
/// There are two ways to end it. The body calls close() on worker 0, which blocks. Or all workers
/// call try_close(), which does not block, in the loop of one job:
///
///   world.run([&](worker_t k) {
///     while (!epoch.try_close(k, queue[k].empty() ? idle : busy)) work_on(queue[k]);
///   });
///
/// If an exception leaves the epoch, the epoch is abandoned: its messages are discarded. With
/// several ranks the exception must then leave the body. Another epoch or collective would fail the
/// world, because the other ranks still wait for this epoch.
///
/// Messages   one wave (a reduction of three words, ceil(log2 P) rounds) after the last message if
///            no handler may send (channel_options::sends), else two; more while messages are in
///            flight. Always two with try_close() or holds. With one rank none. Waves of ranks of
///            one machine send no messages.
/// Throws     contract_violation from the constructor if an epoch of the world is open, and from
///            close() if a handler has sent although its channel excludes it
/// Collective: the ranks open and close their epochs in the same order; one at a time.
/// Source     [DC15] AM++ epochs; ledger.hpp detects the end.
class [[nodiscard("an epoch ends with close()")]] epoch {
 public:
  explicit epoch(world & w);
  ~epoch();
  epoch(const epoch&) = delete;
  epoch& operator=(const epoch&) = delete;

  /// Waits for the end. Called on worker 0 of every rank, outside jobs.
  void close() { close_with({}, {}); }
  /// close(), and returns the sums over all ranks of what mine() returns at the end, an array of
  /// unsigned words. They travel in the waves, at no further cost. mine() is called before each
  /// wave, perhaps while other workers run handlers. Not after try_close().
  template <class F>
  [[nodiscard]] std::invoke_result_t<F&> close_and_sum(F && mine) {
    std::invoke_result_t<F&> sums{};
    close_with(sums, [&mine](std::span<std::uint64_t> words) {
      std::ranges::copy(mine(), words.begin());
    });
    return sums;
  }

  /// Takes messages in, runs their handlers and drives the waves. Ships old buffers; of an idle
  /// worker it ships all buffers. Returns true on all workers of all ranks once the epoch has
  /// ended. Called by every worker inside one job, any number of times.
  [[nodiscard]] bool try_close(worker_t k, worker_activity state);

  /// Worker k has n pieces of work that may send later, such as entries of a queue. They keep the
  /// epoch open until they are released. A piece is released after everything that it sends was
  /// sent; any worker may release it.
  void hold(worker_t k, std::uint64_t n = 1) noexcept;
  void release(worker_t k, std::uint64_t n = 1) noexcept;

 private:
  enum class body { may_send, has_ended };
  using write_words = std::function<void(std::span<std::uint64_t>)>;

  void close_with(std::span<std::uint64_t> sums, const write_words& mine);
  void drive_waves(worker_t k, body state, const write_words& mine);
  void begin_wave(worker_t k, body state, const write_words& mine);

  world& world_;
  bool open_ = true;
  obs::trace_span span_;
  // State of the waves; one worker at a time drives them.
  task::spin_lock driving_;
  ledger ledger_;
  bool wave_is_running_ = false;
  std::uint64_t sent_here_ = 0;      // as the last wave counts it
  std::vector<std::uint64_t> wave_;  // this rank's words, later the sums: counts, then others
  std::atomic<bool> ended_{false};
};

/// epoch::hold and release for code that has no access to the open epoch, such as a queue below it.
inline void hold(world& w, worker_t k, std::uint64_t n = 1) noexcept { w.messages().hold(k, n); }
inline void release(world& w, worker_t k, std::uint64_t n = 1) noexcept {
  w.messages().release(k, n);
}

/// Returns once all messages that any rank has sent on a standing channel have been handled, or
/// when the world is poisoned or cancelled. The ledger decides, as for epochs.
///
/// Collective  by worker 0 outside jobs; from then on only handlers send on the channel
void finish_standing(world& w, receiver& r) noexcept;

}  // namespace cairn::am
