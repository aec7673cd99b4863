// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <cairn/base/aggregator.hpp>
#include <cairn/base/error.hpp>
#include <cairn/base/packing.hpp>
#include <cairn/base/types.hpp>
#include <cairn/core/delivery.hpp>
#include <cairn/core/gathered_parts.hpp>
#include <cairn/core/machines.hpp>
#include <cairn/core/progress_style.hpp>
#include <cairn/core/provided.hpp>
#include <cairn/core/routing.hpp>
#include <cairn/core/task_service.hpp>
#include <cairn/core/timed_choice.hpp>
#include <cairn/hw/clock.hpp>
#include <cairn/hw/page_pool.hpp>
#include <cairn/hw/tm_probe.hpp>
#include <cairn/net/transport.hpp>
#include <cairn/obs/counters.hpp>
#include <cairn/obs/trace.hpp>
#include <cairn/task/parallel_for.hpp>
#include <cairn/task/pool.hpp>
#include <cairn/task/scheduler.hpp>
#include <cairn/task/task.hpp>

namespace cairn {

class one_worker;
class progress_engine;

/// Options of a world beyond its transport and its workers.
struct world_options {
  std::size_t coalesce_bytes = 0;           ///< buffer size; 0: the transport chooses
  std::uint64_t coalesce_age_ns = 200'000;  ///< maximum age before a buffer is sent, full or not
  std::size_t pending_bytes = 64u << 20;    ///< bytes of messages held before the body waits
  std::size_t filter_entries = 1u << 20;    ///< sent-filter cells per worker; 0 disables it
  unsigned frequency = 0;  ///< batches between two looks for messages; 0: automatic
  /// Buckets by which a worker may be ahead of others on its machine in a loop that follows an
  /// order without barriers; any_lead: any number; empty: 0 if workers share cores, else any.
  std::optional<unsigned> lead = {};
  static constexpr unsigned any_lead = ~0u;
  bool small_work_alone = false;  ///< one worker does small runs if that is faster
  bool filter_is_chosen = false;  ///< sent-filters that drop little are left out
  cairn::routing routing = cairn::routing::automatic;  ///< of epoch channels
  cairn::delivery deliver = delivery::any;             ///< of operators of one cell
  progress_style progress = progress_style::poll;
  specialised_options specialised = {};
  /// Tasks of a worker that wait for cache lines at once, at most; 0: each worker chooses.
  std::size_t prefetching = 0;
  std::size_t loop_tasks = 256;       ///< tasks of a worker in a loop whose body is a coroutine
  bool share_gets = false;            ///< see pgas::global_memory_options
  std::string mechanism = "auto";     ///< of operators for which a program asks for none
  std::size_t grain = 0;              ///< of these operators; 0: chosen automatically
  std::string retry = "rtm";          ///< of these operators: the name of a retry policy
  bool emulate_transactions = false;  ///< htm runs emulated, with random aborts
  std::uint64_t emulation_seed = 0;
  machine_layout machines = {};  ///< which ranks share memory
  bool trace = false;            ///< world.trace() may record
};

/// Threads of each of `ranks` ranks beside its workers that may run handlers. Their worker numbers
/// follow those of the workers. One rank alone has none.
[[nodiscard]] constexpr int threads_beside_workers(const world_options& o, rank_t ranks) noexcept {
  if (o.progress == progress_style::poll || ranks == 1) return 0;
  return o.progress == progress_style::specialised ? o.specialised.helpers + 1 : 1;
}

/// One rank's view of the ranks and workers that compute together.
///
/// The body (what every rank runs, on worker 0) receives it. Collective calls are made by all ranks
/// in the same order, by worker 0, outside handlers and parallel loops.
///
/// Thread-safety  one thread at a time calls into a world; a concurrent call throws
///                contract_violation. Exceptions: functions marked "Any thread", and functions that
///                take a worker number, when called by that worker
/// Throws    peer_failure from every blocking call once any rank has failed; cancelled from one of
///           them after cancel()
class world {
 public:
  /// One rank in this process, without peers or a launcher.
  explicit world(int workers = 1);
  /// A rank of a cluster. The transport, the pool and the clock outlive the world.
  world(net::transport& net, task::pool& workers, hw::clock& clock,
        const world_options& options = {});
  ~world();
  world(const world&) = delete;
  world& operator=(const world&) = delete;

  [[nodiscard]] rank_t rank() const noexcept { return rank_; }
  [[nodiscard]] rank_t size() const noexcept { return size_; }
  /// The workers that share this rank's loops: 1 during a one_worker.
  [[nodiscard]] int workers() const noexcept { return alone_ ? 1 : pool_->workers(); }
  /// Chooses by the times of earlier small runs whether all workers share a run, and which of an
  /// algorithm's two ways it takes. Cache lines that several workers write travel between their
  /// caches, which may take longer than sharing saves.
  [[nodiscard]] timed_choice& sharing() noexcept { return sharing_; }

  /// The number of the workers and of the threads beside them. Worker numbers of handlers are below
  /// it.
  [[nodiscard]] int handling_threads() const noexcept {
    return workers() + threads_beside_workers(options_, size_);
  }

  /// Calls f(worker, begin, end) for chunks that cover [0, n) on this rank's workers, and handles
  /// arriving messages between chunks. chunk = 0: about 16 chunks per worker, of at most 16,384
  /// elements, so that cancel() takes effect soon. With several ranks the limit is 256, because
  /// their messages fill the network meanwhile.
  ///
  /// Throws    the first exception of f, after which no chunk begins; peer_failure, cancelled
  /// Worker 0, outside loops, jobs, handlers and tasks. Not collective.
  template <class F>
  void parallel_for(std::size_t n, F&& f, std::size_t chunk = 0) {
    if (chunk == 0) {
      const auto share = n / (16 * static_cast<std::size_t>(workers()));
      chunk = std::clamp<std::size_t>(share, 1, size_ > 1 ? 256 : 16'384);
    }
    const call_guard in_call(*this);
    {
      obs::trace_span span(*trace_, main_worker, obs::trace_kind::loop);
      if (span) [[unlikely]]
        span->amount = n;
      const auto between = [this](worker_t k) { return progress(k); };
      if (alone_) {
        task::serial_for({.elements = n, .chunk = chunk}, f, between);
      } else {
        task::parallel_for(*pool_, {.elements = n, .chunk = chunk}, f, between);
      }
    }
    throw_if_interrupted();
  }

  /// Calls f(worker) once on every worker of this rank; returns when all have ended.
  ///
  /// Throws    the first exception of f, after all workers have ended; peer_failure, cancelled
  /// Worker 0, outside loops, jobs, handlers and tasks. Not collective.
  void run(const std::function<void(worker_t)>& f);

  /// Runs a task, the root, on each rank, and returns its value once the roots of all ranks have
  /// ended. The workers run tasks and handle messages meanwhile; tasks that remain continue
  /// whenever workers wait. Collective, but without a barrier at the beginning: after the first
  /// run, tasks of another rank may call functions here before this rank has begun its run.
  ///
  /// Throws    the exception that left the root. Then this rank's tasks are destroyed; with several
  ///           ranks the exception must leave the body, because the other ranks wait for this root
  template <class T>
  T run(task::task<T> root) {
    CAIRN_EXPECTS(root, "a task that was moved from cannot run");
    run_scope scope(*this);
    if constexpr (std::is_void_v<T>) {
      tasks().run(std::move(root));
      scope.end();
    } else {
      T value = tasks().run(std::move(root));
      scope.end();
      return value;
    }
  }
  /// The scheduler of this rank's tasks, made at the first call. Worker 0 outside jobs.
  [[nodiscard]] task::scheduler& tasks();
  /// co_await w.call<&f>(rank, arguments...): runs f at that rank and returns its value.
  /// Include <cairn/am/call.hpp>, which describes it.
  template <auto F, class... Arguments>
  [[nodiscard]] auto call(rank_t at, Arguments&&... arguments);
  /// co_await w.parallel_for<&f>(n, options, arguments...): the loop that a task awaits, over the
  /// workers of all ranks. Include <cairn/am/parallel_for.hpp>, which describes it.
  template <auto F, class Options, class... Arguments>
  [[nodiscard]] auto parallel_for(std::uint64_t n, const Options& options,
                                  Arguments&&... arguments);
  /// Null until the first run of a task.
  [[nodiscard]] cairn::task_service* task_service() noexcept { return task_service_; }

  /// Receives messages, runs their handlers, sends old buffers and waits for room. For loops of
  /// sends outside parallel_for, on worker k; not inside a handler. Returns false if the loop
  /// should end, because the world is poisoned or cancelled.
  bool progress(worker_t k = main_worker);

  /// Combines the ranks' values with aggregator A in a fixed order: the same bits on every rank,
  /// and in every run with the same number of ranks (recursive_doubling.hpp). Collective. The
  /// value is a number, a collection, or a type of your own with a packing. About log2 P messages
  /// per rank, one after the other; short values of ranks of one machine take none.
  template <aggregator A>
  [[nodiscard]] typename A::value_type reduce(const typename A::value_type& mine) {
    using value = typename A::value_type;
    static_assert(packable<value>, "values travel as their bytes: specialise cairn::packing");
    if (size_ == 1) return of_one_rank(mine);
    constexpr auto combine = [](std::span<const std::byte> lower, std::span<const std::byte> higher,
                                std::vector<std::byte>& result) {
      auto both = unpacked<value>(lower);
      combine_into<A>(both, unpacked<value>(higher));
      pack(result, both);
    };
    return unpacked<value>(reduce_bytes(packed(mine), combine));
  }
  [[nodiscard]] std::uint64_t sum(std::uint64_t mine) { return reduce<add<std::uint64_t>>(mine); }
  [[nodiscard]] std::uint64_t sum(std::unsigned_integral auto mine) {
    return sum(std::uint64_t{mine});
  }
  [[nodiscard]] std::int64_t sum(std::signed_integral auto mine) {
    return reduce<add<std::int64_t>>(mine);
  }
  [[nodiscard]] double sum(double mine) { return reduce<add<double>>(mine); }
  /// Replaces values, as many on all ranks, by their sums.
  void sum_each(std::span<std::uint64_t> values);
  /// max() takes std::uint64_t only.
  [[nodiscard]] std::uint64_t max(std::same_as<std::uint64_t> auto mine) {
    return reduce<maximum<std::uint64_t>>(mine);
  }
  [[nodiscard]] bool any(std::same_as<bool> auto mine) { return max(std::uint64_t{mine}) != 0; }
  void barrier() { static_cast<void>(any(false)); }

  /// Every rank's value, by rank. Collective. T is packable (packing.hpp).
  template <class T>
  [[nodiscard]] std::vector<T> all_gather(const T& mine) {
    std::vector<T> all;
    all.reserve(static_cast<std::size_t>(size_));
    for (const auto& part : all_gather_packed(mine)) all.push_back(unpacked<T>(part));
    return all;
  }
  /// Every rank's values, concatenated in rank order; lengths may differ. Collective.
  /// T is trivially copyable.
  template <class T>
  [[nodiscard]] std::vector<T> all_gather_values(std::span<const T> mine) {
    return concatenate<T>(all_gather_bytes(std::as_bytes(mine)));
  }
  /// Every rank's bytes, by rank. Collective.
  [[nodiscard]] gathered_parts all_gather_bytes(std::span<const std::byte> mine);

  /// Runs f. If it throws input_error, usage_error or system_failure on any rank, every rank throws
  /// the error of the lowest such rank. Collective.
  void agree(const std::function<void()>& f);

  /// Returns once done() holds; works and yields meanwhile. Throws peer_failure if the world is
  /// poisoned, and cancelled. Called by the body.
  template <std::invocable Done>
  void wait_until(Done&& done) {
    const call_guard in_call(*this);
    pool_->wait_until([&] { return interrupted() || done(); });
    throw_if_interrupted();
  }

  /// Asks all ranks to end their work: all throw `cancelled` at the same collective call, or in a
  /// loop before it. Objects under construction then may only be destroyed (maps, domains, channels
  /// used in an open epoch). Graphs and the world stay valid. Any thread, and signal handlers.
  void cancel() noexcept;

  /// Makes every blocking call of every rank throw peer_failure(rank(), text). Any thread.
  void poison(const std::string& text);
  [[nodiscard]] bool poisoned() const noexcept;
  void throw_if_poisoned() const;
  /// Throws peer_failure if the world is poisoned, and cancelled after cancel(). Worker 0, outside
  /// jobs.
  void throw_if_interrupted();

  /// Whether hardware transactions work here; probed at the first call. Worker 0.
  [[nodiscard]] const hw::tm_probe& transactions();

  /// Marks a call of the body: during its lifetime another call is refused.
  class call_guard {
   public:
    /// Throws    contract_violation if another use exists
    explicit call_guard(world& w);
    ~call_guard() { world_.in_use_.store(false, std::memory_order_release); }
    call_guard(const call_guard&) = delete;
    call_guard& operator=(const call_guard&) = delete;

   private:
    world& world_;
  };

  [[nodiscard]] progress_engine& messages() noexcept { return *messages_; }
  /// The ranks that share a machine, and memory that they share.
  [[nodiscard]] cairn::machines& machines() noexcept { return machines_; }
  [[nodiscard]] task::pool& pool() noexcept { return *pool_; }
  [[nodiscard]] hw::clock& clock() noexcept { return *clock_; }
  /// Memory for the data of one run, reused by the next run.
  [[nodiscard]] const std::shared_ptr<hw::page_source>& memory() const noexcept { return memory_; }
  [[nodiscard]] const world_options& options() const noexcept { return options_; }
  /// Objects that tasks of this rank find by their type.
  [[nodiscard]] provided_objects& provided() noexcept { return provided_; }
  [[nodiscard]] obs::counters& counters() noexcept { return *counters_; }
  /// Records what this rank's workers do, after resume(), if world_options::trace is set.
  [[nodiscard]] obs::trace& trace() noexcept { return *trace_; }

 private:
  friend cairn::task_service;
  friend class one_worker;
  [[nodiscard]] bool interrupted() const noexcept;
  // The result of a reduction on one rank.
  template <class T>
  [[nodiscard]] T of_one_rank(const T& mine) {
    const call_guard in_call(*this);
    counters_->add(main_worker, obs::counter::collectives);
    throw_if_interrupted();
    return mine;
  }
  [[nodiscard]] std::vector<std::byte> reduce_bytes(std::span<const std::byte> mine,
                                                    void (*combine)(std::span<const std::byte>,
                                                                    std::span<const std::byte>,
                                                                    std::vector<std::byte>&));

  template <class T>
  [[nodiscard]] gathered_parts all_gather_packed(const T& mine) {
    static_assert(packable<T>, "values travel as their bytes: specialise cairn::packing");
    return all_gather_bytes(packed(mine));
  }

  template <class T>
  static std::vector<T> concatenate(const gathered_parts& parts);

  /// A run of tasks. Its tasks are destroyed unless end() is called.
  class run_scope {
   public:
    explicit run_scope(world& w);
    ~run_scope();
    run_scope(const run_scope&) = delete;
    run_scope& operator=(const run_scope&) = delete;
    /// Waits until the run has ended on all ranks.
    void end();

   private:
    world& world_;
    std::optional<call_guard> in_call_;
    std::uint32_t generation_;
    bool ended_ = false;
  };

  struct embedded;
  bool alone_ = false;
  timed_choice sharing_;
  world_options options_;  // first: the members below are made after it
  std::unique_ptr<embedded> embedded_;
  std::unique_ptr<obs::counters> counters_;
  std::unique_ptr<obs::trace> trace_;
  std::unique_ptr<progress_engine> messages_;
  std::shared_ptr<hw::page_source> memory_ = std::make_shared<hw::page_pool>();
  task::pool* pool_;
  hw::clock* clock_;
  rank_t rank_, size_;
  cairn::machines machines_;
  std::optional<hw::tm_probe> transactions_;
  provided_objects provided_;
  std::atomic<bool> in_use_{false};
  cairn::task_service* task_service_ = nullptr;
  std::unique_ptr<cairn::task_service> own_task_service_;
};

template <class T>
std::vector<T> world::concatenate(const gathered_parts& parts) {
  static_assert(std::is_trivially_copyable_v<T>, "values travel as their bytes");
  std::size_t bytes = 0;
  for (const auto& p : parts) bytes += p.size();
  std::vector<T> whole(bytes / sizeof(T));
  auto* at = reinterpret_cast<std::byte*>(whole.data());
  for (const auto& p : parts) at = std::copy(p.begin(), p.end(), at);
  return whole;
}

}  // namespace cairn
