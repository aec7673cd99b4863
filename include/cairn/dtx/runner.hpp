// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <cairn/activity/parking.hpp>
#include <cairn/base/random.hpp>
#include <cairn/core/world.hpp>
#include <cairn/dtx/acquisition.hpp>
#include <cairn/dtx/gate.hpp>
#include <cairn/dtx/transaction.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/task/spin_lock.hpp>

namespace cairn::dtx {

struct options {
  std::size_t at_once = 16;       ///< transactions of one worker that hold or claim; others wait
  back_off_limits back_off = {};  ///< its first bound is a round's time, if that is longer
};

/// What one transaction does, whatever its type.
class job {
 public:
  virtual ~job() = default;
  /// Reads and writes copies; runs again after it was left. What it throws poisons the world.
  virtual void run(transaction& tx) = 0;
  /// Runs once: its own elements are written back, those of other ranks are on their way.
  virtual void committed(worker_t) {}
  /// How many of what was queued it does together.
  [[nodiscard]] virtual std::uint64_t size() const noexcept { return 1; }
};

/// The transactions that wait for a free record.
class job_source {
 public:
  virtual ~job_source() = default;
  [[nodiscard]] virtual bool has_jobs(worker_t w) const noexcept = 0;
  /// The next one of that worker, and the elements that it names.
  [[nodiscard]] virtual std::unique_ptr<job> next_job(worker_t w, std::vector<element>& named) = 0;
};

/// Runs a rank's transactions over the gates of their maps; transactions.hpp and executor.hpp give
/// it types.
///
/// A transaction stays in its record until it commits, driven by one worker at a time: the one
/// that started it, or the one that took in the last answer that was due. What can go on does so
/// when a worker spawns more, or has nothing else to do; claims and releases of all transactions
/// leave together. A queued transaction holds the epoch until it has committed. What a cancelled
/// epoch leaves never runs in another one, and is destroyed with the runner.
class runner final : public claim_sink {
 public:
  /// element_bytes   of the largest element of all maps
  runner(world& w, const options& opt, std::size_t element_bytes, job_source& source);

  /// Before the first transaction, in the same order on every rank.
  void add(const void* map, std::unique_ptr<gate> road);

  /// The number of a map that was added.
  [[nodiscard]] std::uint32_t number_of(const void* map) const;
  [[nodiscard]] std::span<const void* const> maps() const noexcept { return maps_; }

  /// Something was queued at the source, by worker w.
  void queued(worker_t w);
  /// Lets worker w's transactions go on, and starts those of its that wait. Returns whether any
  /// went on. Inside a chunk, a body section or a handler, or when the worker is idle.
  bool pump(worker_t w);

  void answered(worker_t w, const claim_request& asked, bool granted,
                std::span<const std::byte> value) override;

 private:
  struct record {
    explicit record(std::size_t bytes) : data(bytes) {}
    task::spin_lock guard;  // answers come on several workers
    acquisition held;
    copies data;
    std::unique_ptr<job> what;
    marker_word name = free_marker;
    worker_t home = 0;
    std::uint64_t claimed_ns = 0;         // when it last claimed
    std::uint64_t shortest_round_ns = 0;  // from claims to their drop, since it began
  };
  struct resting {
    std::uint64_t due_ns;
    record* of;
  };
  struct outbox {
    std::vector<claim_request> claims;
    std::vector<release_request> releases;
  };
  struct worker_state {
    std::vector<std::unique_ptr<record>> records;  // all that were started here
    std::vector<record*> ready, driven, done;
    std::vector<resting> rests;
    std::vector<outbox> out;  // by map
    random64 random{0};
    std::vector<element> named;  // by the next transaction
    std::uint64_t num_started = 0;
    bool pumping = false;
    task::spin_lock guard;
    std::vector<record*> spare;  // of records; any worker gives back
  };

  void wake(worker_state& mine);
  void begin(worker_t w);
  [[nodiscard]] record* take_record(worker_state& mine);
  void advance(worker_t w, record& r);
  [[nodiscard]] bool run_body(record& r);
  void commit(worker_t w, record& r);
  void claim(worker_t w, record& r);
  void drop(worker_t w, record& r);
  void send(worker_t w);

  world& world_;
  options options_;
  std::size_t element_bytes_;
  job_source& source_;
  std::atomic<std::uint64_t> epoch_{0}, num_uncommitted_{0};
  std::vector<const void*> maps_;
  std::vector<std::unique_ptr<gate>> gates_;
  task::per_worker<worker_state> workers_;
  activity::parking parking_;
};

}  // namespace cairn::dtx
