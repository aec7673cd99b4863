// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <cairn/am/epoch.hpp>
#include <cairn/core/progress.hpp>
#include <cairn/core/world.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/task/pool.hpp>
#include <cairn/traverse/bucket_board.hpp>
#include <cairn/traverse/bucket_queue.hpp>
#include <cairn/traverse/work_sharing.hpp>

namespace cairn::traverse {

/// A distributed priority queue without barriers. Each worker of each rank has a bucket_queue of
/// its own and processes the entries of its first bucket, so entries are processed approximately in
/// the order of their distances.
///
/// One call of run() is one epoch. Processing an entry sends messages; their handlers add entries
/// to the queue of the worker that runs them. A queue that has entries holds the epoch. A worker
/// that has finished a bucket requests work from the worker of its rank that is furthest behind.
/// That worker shares half of its first bucket between two batches.
///
/// If workers share cores, one that is ahead of another on its machine waits (bucket_board.hpp).
///
/// A busy worker polls for messages after each batch, or after world_options::frequency batches. On
/// grids late distances cost more than polls that find nothing.
///
/// Entry     has a member `distance`: see bucket_queue
/// Thread-safety: worker k calls add(k, e); worker 0 calls the others while no worker adds.
/// Source    [DC15] algorithm 1; sharing half of the work on request is ours
template <class Entry>
class ordered_work {
  using queue_type = bucket_queue<Entry>;

 public:
  static constexpr std::uint64_t none = queue_type::none;  ///< no bucket

  /// width     width of a bucket; infinity: entries are processed in the order in which they come
  /// Collective
  ordered_work(world& w, double width)
      : w_(w), workers_(w.workers()), extended_(extended_on(w)), board_(w) {
    for (auto& k : workers_) k.value.queue = queue_type(w, width);
  }

  /// Called in a handler or an operator's `after`; between runs also by worker 0 or in a parallel
  /// loop.
  [[gnu::always_inline]] void add(worker_t k, Entry e) {
    auto& mine = workers_[k];
    const auto bucket = mine.queue.push(e);
    if (!mine.holds) [[unlikely]]
      hold(k, bucket);
  }
  /// Ends the current run, on one rank, before bucket `end`: later buckets stay for the next run.
  /// Batches that have begun are finished.
  void end_at(std::uint64_t end) { end_.store(end, std::memory_order_relaxed); }

  /// A worker shares work only after it has taken this many entries or has received work. For
  /// workers that prepare data before their first entry.
  void share_after(std::uint64_t entries) { share_after_ = entries; }

  [[nodiscard]] std::uint64_t bucket_of(typename queue_type::distance_type distance) const {
    return workers_[main_worker].queue.bucket_of(distance);
  }
  /// The number of entries of worker k.
  [[nodiscard]] std::size_t size(worker_t k) const { return workers_[k].queue.size(); }

  /// The first bucket that has entries on this rank, or none.
  [[nodiscard]] std::uint64_t first_bucket() {
    auto first = none;
    for (auto& k : workers_) first = std::min(first, k.value.queue.first_bucket());
    return first;
  }

  /// Whether the run includes the bucket and no queue of this rank has entries in an earlier one,
  /// as far as worker k knows. Then k may process an entry of the bucket without adding it, if it
  /// has processed all that it has taken. Called by worker k while it processes entries.
  [[nodiscard]] bool is_next(worker_t k, std::uint64_t bucket) {
    auto& mine = workers_[k];
    if (bucket >= limit() || mine.queue.first_bucket() < bucket) return false;
    const auto* const other = furthest_behind(mine);
    return other == nullptr || other->sharing.bucket() >= bucket;
  }

  /// What work() processes.
  class batch {
   public:
    batch(ordered_work& all, worker_t k, std::span<const Entry> first)
        : all_(all), worker_(k), entries_(first), taken_(first.size()) {}

    /// At most a few dozen entries.
    [[nodiscard]] std::span<const Entry> entries() const { return entries_; }
    /// The number of entries so far.
    [[nodiscard]] std::size_t size() const { return taken_; }

    /// Replaces the entries by the first ones of the queue, on one rank, after handle() has handled
    /// the messages of these. For short batches, which cost more than their entries. Returns
    /// whether there are any; false after 32 entries, or with several workers after 8 and between
    /// buckets, where they request work from each other.
    template <class Handle>
    [[nodiscard]] bool extend(Handle&& handle) {
      if (taken_ >= all_.extended_) return false;
      handle();
      if (all_.workers_.workers() > 1 && queue().first_bucket() != bucket()) return false;
      entries_ = queue().take(all_.limit());
      taken_ += entries_.size();
      return !entries_.empty();
    }

   private:
    queue_type& queue() { return all_.workers_[worker_].queue; }
    std::uint64_t bucket() { return all_.workers_[worker_].sharing.bucket(); }

    ordered_work& all_;
    const worker_t worker_;
    std::span<const Entry> entries_;
    std::size_t taken_;
  };

  /// Calls work(worker, batch&) until no rank has entries in buckets before `end` and no message is
  /// in flight. work() sends all messages of the batch.
  ///
  /// Throws    exceptions of work() and of handlers; peer_failure, cancelled. Entries of batches
  ///           that were not processed stay for the next run, if no allocation failed
  /// Collective: same `end` on every rank.
  template <class Work>
  void run(Work&& work, std::uint64_t end = none) {
    end_.store(end, std::memory_order_relaxed);
    failed_.store(false, std::memory_order_relaxed);
    board_.clear();
    std::uint64_t holds = 0;
    for (auto& k : workers_) {
      auto& queue = k.value.queue;
      const auto push = [&](const Entry& e) { static_cast<void>(queue.push(e)); };
      k.value.sharing.clear(push);
      std::ranges::for_each(k.value.to_share, push);  // left by a run that failed
      k.value.to_share.clear();
      k.value.holds = queue.first_bucket() < end;
      holds += k.value.holds ? 1 : 0;
    }
    const ended_run at_end(end_);
    // Handlers may run from here on; no wave begins before the job.
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
  }

 private:
  struct worker {
    queue_type queue;
    bool holds = false;           // whether its queue holds the epoch
    std::uint64_t taken = 0;      // entries processed
    std::vector<Entry> to_share;  // empty unless work is being given
    bool may_process = false;     // its bucket
    std::uint64_t since_ns = 0;   // when the bucket or the idle time began; 0: no trace
    work_sharing<Entry> sharing;
  };

  // Also if the run fails: between runs entries hold no epoch.
  struct ended_run {
    explicit ended_run(std::atomic<std::uint64_t>& end) : of(end) {}
    ~ended_run() { of.store(0, std::memory_order_relaxed); }
    std::atomic<std::uint64_t>& of;
  };

  // Batches between two polls, and polls between two tests for the end of the epoch. A test costs
  // little compared with a few hundred entries.
  [[nodiscard]] unsigned batches_per_poll() const { return std::max(1u, w_.options().frequency); }
  [[nodiscard]] unsigned polls_per_test() const { return w_.options().frequency == 0 ? 16 : 1; }
  static constexpr unsigned answer_rounds = 64;  // a few microseconds: a batch of short rows

  // The entries of an extended batch. Other ranks wait for polls, other workers for answers.
  static std::size_t extended_on(const world& w) {
    if (w.size() > 1) return 0;
    return w.workers() > 1 ? 8 : 32;
  }

  [[nodiscard]] std::uint64_t limit() const { return end_.load(std::memory_order_relaxed); }

  [[gnu::noinline]] void hold(worker_t k, std::uint64_t bucket) {
    if (bucket >= limit()) return;
    workers_[k].holds = true;
    am::hold(w_, k);
  }

  // Ends the trace span of worker k's previous bucket and begins the next span.
  void record(worker_t k, worker& mine) {
    auto& trace = w_.trace();
    if (!trace.on() && mine.since_ns == 0) [[likely]]
      return;
    const auto bucket = mine.sharing.bucket();
    const auto now = trace.now_ns();
    trace.add_span(k, bucket == none ? obs::trace_kind::idle : obs::trace_kind::bucket,
                   {std::exchange(mine.since_ns, now), now}, bucket);
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
    const auto per_poll = batches_per_poll(), per_test = polls_per_test();
    for (unsigned batches = 0, polls = 0, idle_rounds = 0;
         !failed_.load(std::memory_order_relaxed);) {
      take_given(k, mine);
      if (advance(k, mine)) continue;
      if (is_ahead(mine)) {
        answer_request(k, mine);
        w_.progress(k);
        w_.pool().relax(idle_rounds++);
        w_.pool().throw_if_stalled();
        continue;
      }
      const auto entries = mine.queue.take(limit());
      if (!entries.empty()) {
        idle_rounds = 0;
        batch taken(*this, k, entries);
        work(k, taken);
        mine.taken += taken.size();
        answer_request(k, mine);
        // An interrupted run does not wait for the next poll.
        if (++batches < per_poll && !w_.messages().interrupted()) continue;
        batches = 0;
        const bool goes_on = w_.progress(k);  // waits for buffer space
        if (goes_on && ++polls < per_test) continue;
        polls = 0;
        if (epoch.try_close(k, am::worker_activity::busy)) return;
        continue;
      }
      if (std::exchange(mine.holds, false)) {
        board_.show(k, bucket_board::none);
        am::release(w_, k);
      }
      answer_request(k, mine);
      if (epoch.try_close(k, am::worker_activity::idle)) return;
      if (mine.queue.first_bucket() < limit()) continue;
      w_.pool().relax(idle_rounds++);
      w_.pool().throw_if_stalled();
    }
  }

  // A sleeping worker does not delay a small run: a job that has not begun at the end is dropped.
  void run_shared(const task::pool::job& job) {
    const world::call_guard in_call(w_);
    w_.messages().stoppable([&] { w_.pool().share(job); });
  }

  // Before worker k enters a later bucket, it requests work from a worker in an earlier bucket.
  // Returns whether it has received work.
  bool advance(worker_t k, worker& mine) {
    const auto bucket = mine.queue.first_bucket();
    const auto before = mine.sharing.bucket();
    if (bucket == before && bucket < limit()) return false;
    if (bucket != before) {
      record(k, mine);
      mine.sharing.show(bucket);
      mine.may_process = false;
      board_.show(k, bucket < limit() ? bucket : none);
    }
    if (w_.workers() == 1) return false;
    auto* const other = furthest_behind(mine);
    if (other == nullptr || other->sharing.bucket() >= bucket) return false;
    return request_work(mine, *other) && take_given(k, mine);
  }

  // A worker without work before the end of the run does not wait, whatever others still show; nor
  // does an interrupted run.
  bool is_ahead(worker& mine) {
    if (mine.may_process) return false;
    const auto bucket = mine.sharing.bucket();
    mine.may_process = bucket >= limit() || !board_.is_ahead(bucket) || w_.messages().interrupted();
    return !mine.may_process;
  }

  worker* furthest_behind(const worker& mine) {
    worker* found = nullptr;
    auto smallest = none;
    for (auto& k : workers_) {
      const auto bucket = k.value.sharing.bucket();
      if (bucket >= smallest || &k.value == &mine) continue;
      smallest = bucket;
      found = &k.value;
    }
    return found;
  }

  // Returns whether `other` has answered in time; it may answer later.
  bool request_work(worker& mine, worker& other) {
    if (!mine.sharing.request_from(other.sharing)) return false;
    for (unsigned i = 0; i < answer_rounds; ++i) {
      if (mine.sharing.has_answered(other.sharing)) return true;
      w_.pool().relax(0);
    }
    return false;
  }

  // Shares work with a worker that requested it, if there is enough.
  void answer_request(worker_t k, worker& mine) {
    if (mine.sharing.requester() == nullptr) [[likely]]
      return;
    if (mine.taken >= share_after_) mine.queue.give_half(limit(), mine.to_share);
    mine.sharing.answer_requester(mine.to_share, [&] { am::hold(w_, k); });
  }

  // Moves received entries to the queue, which then holds the epoch.
  bool take_given(worker_t k, worker& mine) {
    const auto push = [&](const Entry& e) { static_cast<void>(mine.queue.push(e)); };
    const auto release = [&](std::uint64_t n) { am::release(w_, k, n); };
    if (!mine.sharing.take_given(mine.holds, push, release)) return false;
    mine.taken = std::max(mine.taken, share_after_);
    return true;
  }

  world& w_;
  task::per_worker<worker> workers_;
  const std::size_t extended_;
  std::atomic<std::uint64_t> end_{0};  // the run processes the buckets before it
  std::uint64_t share_after_ = 0;      // entries
  std::atomic<bool> failed_{false};
  bucket_board board_;
};

}  // namespace cairn::traverse
