// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include <cairn/am/epoch.hpp>
#include <cairn/core/progress.hpp>
#include <cairn/core/world.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/task/pool.hpp>
#include <cairn/task/spin_lock.hpp>
#include <cairn/traverse/bucket_queue.hpp>

namespace cairn::traverse {

/// Work that all workers of all ranks do in about the order of its distances, without barriers:
/// each worker has a queue of its own, and takes what is first there.
///
/// One call of run() is one epoch. The work sends messages, whose handlers add more work to the
/// queue of the worker that runs them. A queue that has entries holds the epoch. A worker that has
/// finished a bucket asks the one of its rank that is furthest behind, which gives away half of its
/// nearest work between two batches.
///
/// A busy worker polls after each batch, or after as many as world_options::frequency says: on
/// grids late distances cost more than polls that find nothing.
///
/// Entry     has a member `distance`: see bucket_queue
/// Thread-safety: add() by worker k itself; the others by worker 0 while nobody adds.
/// Source    [DC15] algorithm 1; giving half of the work on request is ours
template <class Entry>
class ordered_work {
  using queue_type = bucket_queue<Entry>;

 public:
  static constexpr std::uint64_t none = queue_type::none;  ///< no bucket

  /// width     of a bucket; infinity: work is done in the order in which it comes
  ordered_work(world& w, double width) : w_(w), workers_(w.workers()) {
    for (auto& k : workers_) k.value.queue = queue_type(w, width);
  }

  /// In a handler, an operator's `after`, the body as worker 0, or a parallel loop between runs.
  [[gnu::always_inline]] void add(worker_t k, Entry e) {
    auto& mine = workers_[k];
    const auto bucket = mine.queue.push(e);
    if (!mine.holds) [[unlikely]]
      hold(k, bucket);
  }
  /// During a run on one rank: leaves the buckets from `end` on to the next run. Work that is being
  /// done goes on.
  void end_at(std::uint64_t end) { end_.store(end, std::memory_order_relaxed); }

  /// From now on a worker gives work away only when it has taken at least so many entries, or has
  /// been given some. For workers that prepare data before their first work.
  void give_after(std::uint64_t entries) { give_after_ = entries; }

  [[nodiscard]] std::uint64_t bucket_of(typename queue_type::distance_type distance) const {
    return workers_[main_worker].queue.bucket_of(distance);
  }
  /// The number of entries of worker k.
  [[nodiscard]] std::size_t size(worker_t k) const { return workers_[k].queue.size(); }

  /// The first bucket that has entries on this rank, or none.
  [[nodiscard]] std::uint64_t least() {
    auto first = none;
    for (auto& k : workers_) first = std::min(first, k.value.queue.least());
    return first;
  }

  /// Calls work(worker, entries, next) until no rank has entries of buckets before `end` and no
  /// message is on its way.
  ///
  /// entries   to do now, at most some dozens: what they send is sent in the call
  /// next      will probably come next, for prefetches; perhaps empty
  /// Throws    what the calls and handlers throw; peer_failure, cancelled
  /// Collective: same `end` on every rank.
  template <class Work>
  void run(Work&& work, std::uint64_t end = none) {
    end_.store(end, std::memory_order_relaxed);
    failed_.store(false, std::memory_order_relaxed);
    std::uint64_t holds = 0;
    for (auto& k : workers_) {
      k.value.asked_by.store(nullptr, std::memory_order_relaxed);
      k.value.bucket.store(none, std::memory_order_relaxed);
      k.value.holds = k.value.queue.least() < end;
      holds += k.value.holds ? 1 : 0;
    }
    // Handlers may run from here on, and no wave begins before the job.
    am::epoch epoch(w_);
    epoch.hold(worker_t(0), holds);
    const auto job = [&](worker_t k) {
      try {
        run_on(k, epoch, work);
      } catch (...) {
        failed_.store(true, std::memory_order_relaxed);
        throw;
      }
    };
    if (w_.size() == 1 && w_.workers() > 1) {
      run_shared(job);
    } else {
      w_.run(job);
    }
    end_.store(0, std::memory_order_relaxed);
  }

 private:
  struct worker {
    queue_type queue;
    bool holds = false;          // the epoch, for its queue
    std::uint64_t taken = 0;     // entries
    std::vector<Entry> to_give;  // empty unless work is being given
    // What others read or write.
    alignas(cache_line) std::atomic<std::uint64_t> bucket{none};  // of its nearest entries
    std::atomic<worker*> asked_by{nullptr};
    std::atomic<bool> has_given{false};
    task::spin_lock given_lock;
    std::vector<Entry> given;
    std::uint64_t given_holds = 0;  // of the epoch
    std::uint64_t since_ns = 0;     // when the bucket, or the wait for work, began; 0: no trace
  };

  // Batches between two polls, and between two tests for the end of the epoch, which cost little
  // beside some hundred entries.
  [[nodiscard]] unsigned batches_per_look() const { return std::max(1u, w_.options().frequency); }
  [[nodiscard]] unsigned looks_per_test() const { return w_.options().frequency == 0 ? 16 : 1; }
  static constexpr unsigned answer_rounds = 64;  // some microseconds: a batch of short rows

  [[nodiscard]] std::uint64_t limit() const { return end_.load(std::memory_order_relaxed); }

  [[gnu::noinline]] void hold(worker_t k, std::uint64_t bucket) {
    if (bucket >= limit()) return;
    workers_[k].holds = true;
    am::hold(w_, k);
  }

  // Ends the span of the bucket that worker k has been in, and begins another.
  void record(worker_t k, worker& mine) {
    auto& trace = w_.trace();
    if (!trace.on() && mine.since_ns == 0) [[likely]]
      return;
    const auto bucket = mine.bucket.load(std::memory_order_relaxed);
    const auto now = trace.now_ns();
    trace.add_span(k, bucket == none ? obs::trace_kind::idle : obs::trace_kind::bucket,
                   std::exchange(mine.since_ns, now), now, bucket);
  }

  template <class Work>
  void run_on(worker_t k, am::epoch& epoch, Work& work) {
    auto& mine = workers_[k];
    mine.since_ns = w_.trace().on() ? w_.trace().now_ns() : 0;
    work_on_queue(k, epoch, work);
    record(k, mine);
    mine.since_ns = 0;
  }

  template <class Work>
  void work_on_queue(worker_t k, am::epoch& epoch, Work& work) {
    auto& mine = workers_[k];
    const auto per_look = batches_per_look(), per_test = looks_per_test();
    for (unsigned batches = 0, looks = 0, idle_rounds = 0;
         !failed_.load(std::memory_order_relaxed);) {
      take_given(k, mine);
      if (advance(k, mine)) continue;
      const auto entries = mine.queue.take(limit());
      if (!entries.empty()) {
        idle_rounds = 0;
        mine.taken += entries.size();
        work(k, entries, mine.queue.next());
        answer(k, mine);
        // A run that must end does not wait for the next poll.
        if (++batches < per_look && !w_.messages().interrupted()) continue;
        batches = 0;
        const bool goes_on = w_.progress(k);  // waits for room
        if (goes_on && ++looks < per_test) continue;
        looks = 0;
        if (epoch.try_close(k, am::worker_activity::busy)) return;
        continue;
      }
      if (mine.holds) am::release(w_, k);
      mine.holds = false;
      answer(k, mine);
      if (epoch.try_close(k, am::worker_activity::idle)) return;
      if (mine.queue.least() < limit()) continue;
      w_.pool().relax(idle_rounds++);
      w_.pool().throw_if_stalled();
    }
  }

  // A worker that sleeps delays no small run: what it had not begun at the end is left out.
  void run_shared(const task::pool::job& job) {
    const world::call_guard in_call(w_);
    w_.messages().stoppable([&] { w_.pool().share(job); });
  }

  // Before worker k leaves its bucket it asks one that is in an earlier one. Returns whether it has
  // been given work.
  bool advance(worker_t k, worker& mine) {
    const auto bucket = mine.queue.least();
    const auto before = mine.bucket.load(std::memory_order_relaxed);
    if (bucket == before && bucket < limit()) return false;
    if (bucket != before) {
      record(k, mine);
      mine.bucket.store(bucket, std::memory_order_relaxed);
    }
    if (w_.workers() == 1) return false;
    auto* const other = furthest_behind(mine);
    if (other == nullptr || other->bucket.load(std::memory_order_relaxed) >= bucket) return false;
    return ask(mine, *other) && take_given(k, mine);
  }

  worker* furthest_behind(const worker& mine) {
    worker* found = nullptr;
    auto least = none;
    for (auto& k : workers_) {
      const auto bucket = k.value.bucket.load(std::memory_order_relaxed);
      if (bucket >= least || &k.value == &mine) continue;
      least = bucket;
      found = &k.value;
    }
    return found;
  }

  // Returns whether the other has answered; it may answer later.
  bool ask(worker& mine, worker& other) {
    worker* nobody = nullptr;
    if (!other.asked_by.compare_exchange_strong(nobody, &mine, std::memory_order_acq_rel)) {
      return false;
    }
    for (unsigned i = 0; i < answer_rounds; ++i) {
      if (other.asked_by.load(std::memory_order_acquire) != &mine) return true;
      w_.pool().relax(0);
    }
    return false;
  }

  // Gives work to a worker that asked, if there is enough.
  void answer(worker_t k, worker& mine) {
    auto* const asker = mine.asked_by.load(std::memory_order_acquire);
    if (asker == nullptr) [[likely]]
      return;
    if (mine.taken >= give_after_) mine.queue.give_half(limit(), mine.to_give);
    if (!mine.to_give.empty()) {
      am::hold(w_, k);
      const std::lock_guard held(asker->given_lock);
      asker->given.insert(asker->given.end(), mine.to_give.begin(), mine.to_give.end());
      mine.to_give.clear();
      asker->given_holds += 1;
      asker->has_given.store(true, std::memory_order_release);
    }
    mine.asked_by.store(nullptr, std::memory_order_release);
  }

  // The queue holds the epoch from then on.
  bool take_given(worker_t k, worker& mine) {
    if (!mine.has_given.load(std::memory_order_acquire)) return false;
    const std::lock_guard held(mine.given_lock);
    for (const auto& e : mine.given) static_cast<void>(mine.queue.push(e));
    mine.given.clear();
    mine.taken = std::max(mine.taken, give_after_);
    mine.has_given.store(false, std::memory_order_relaxed);
    if (!std::exchange(mine.holds, true)) --mine.given_holds;
    am::release(w_, k, std::exchange(mine.given_holds, 0));
    return true;
  }

  world& w_;
  task::per_worker<worker> workers_;
  std::atomic<std::uint64_t> end_{0};  // the run takes the buckets before it
  std::uint64_t give_after_ = 0;       // entries
  std::atomic<bool> failed_{false};
};

}  // namespace cairn::traverse
