// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include <cairn/base/contract.hpp>
#include <cairn/core/progress.hpp>
#include <cairn/core/world.hpp>

#include "core/agreed_failure.hpp"

namespace cairn {
namespace {

/// The transport of a world without peers: it sends and receives nothing.
class no_peers final : public net::transport {
 public:
  rank_t self() const noexcept override { return 0; }
  rank_t size() const noexcept override { return 1; }
  std::size_t max_packet() const noexcept override { return 64 << 10; }
  std::size_t best_packet() const noexcept override { return 4 << 10; }
  bool send(rank_t, std::span<const std::byte>) override { return false; }
  std::size_t poll(const sink&) override { return 0; }
};

enum class fault : char { none, input, usage, system };

// Without a trace nobody reads the clock for it.
std::unique_ptr<obs::trace> make_trace(const world_options& options, rank_t ranks, int workers,
                                       const hw::clock& clock) {
  if (!options.trace) return std::make_unique<obs::trace>(workers, 0, nullptr);
  return std::make_unique<obs::trace>(workers, obs::trace::share(ranks, workers),
                                      [&clock] { return clock.now_ns(); });
}

}  // namespace

struct world::embedded {
  explicit embedded(int count) : workers(task::make_threads({.workers = count})) {}
  no_peers net;
  std::unique_ptr<task::pool> workers;
  hw::steady_clock clock;
};

world::world(int workers)
    : embedded_(std::make_unique<embedded>(workers)),
      counters_(std::make_unique<obs::counters>(workers)),
      trace_(make_trace(options_, 1, workers, embedded_->clock)),
      pool_(embedded_->workers.get()),
      clock_(&embedded_->clock),
      rank_(0),
      size_(1),
      machines_(*this, {}) {
  messages_ = std::make_unique<progress_engine>(embedded_->net, *pool_, *clock_, *counters_,
                                                *trace_, options_);
}

world::world(net::transport& net, task::pool& workers, hw::clock& clock,
             const world_options& options)
    : options_(options),
      counters_(std::make_unique<obs::counters>(workers.workers() +
                                                threads_beside_workers(options, net.size()))),
      trace_(make_trace(options, net.size(), counters_->workers(), clock)),
      messages_(
          std::make_unique<progress_engine>(net, workers, clock, *counters_, *trace_, options)),
      pool_(&workers),
      clock_(&clock),
      rank_(net.self()),
      size_(net.size()),
      machines_(*this, options.machines) {
  if (options.trace) pool_->set_trace(trace_.get());
}

task_service::task_service(world& w) : world_(w) { w.task_service_ = this; }
// Also if the constructor of the derived class has thrown, because of cancel() for example: then
// the next run makes another.
task_service::~task_service() { world_.task_service_ = nullptr; }

world::call_guard::call_guard(world& w) : world_(w) {
  task::expect_no_task();
  CAIRN_EXPECTS(!w.in_use_.exchange(true, std::memory_order_acquire),
                "the world is already in use by another thread or by an outer call");
}

world::~world() {
  messages_->close_tasks();
  own_task_service_.reset();
  messages_->drain();
  if (options_.trace) pool_->set_trace(nullptr);
}

gathered_parts world::all_gather_bytes(std::span<const std::byte> mine) {
  const call_guard in_call(*this);
  return messages_->all_gather(mine);
}

std::vector<std::byte> world::reduce_bytes(std::span<const std::byte> mine,
                                           recursive_doubling::combine_function combine) {
  const call_guard in_call(*this);
  return messages_->reduce(mine, combine);
}

void world::sum_each(std::span<std::uint64_t> values) {
  if (size_ == 1) return static_cast<void>(of_one_rank(0));
  const auto sums = reduce_bytes(std::as_bytes(values), add_words);
  CAIRN_EXPECTS(sums.size() == values.size_bytes(), "the ranks sum different numbers of values");
  if (!sums.empty()) std::memcpy(values.data(), sums.data(), sums.size());
}

void world::agree(const std::function<void()>& f) {
  auto kind = fault::none;
  std::string text;
  try {
    f();
  } catch (const peer_failure&) {
    throw;
  } catch (const input_error& e) {
    kind = fault::input, text = e.what();
  } catch (const usage_error& e) {
    kind = fault::usage, text = e.what();
  } catch (const system_failure& e) {
    kind = fault::system, text = e.what();
  }
  text.insert(text.begin(), static_cast<char>(kind));
  rank_t rank = 0;
  for (const auto& part : all_gather_bytes(std::as_bytes(std::span(text)))) {
    const std::string sentence(reinterpret_cast<const char*>(part.data()) + 1, part.size() - 1);
    switch (static_cast<fault>(part[0])) {
      case fault::none:
        break;
      case fault::input:
        throw input_error(sentence);
      case fault::usage:
        throw usage_error(sentence);
      case fault::system:
        throw agreed_failure(rank, sentence);
    }
    ++rank;
  }
}

const hw::tm_probe& world::transactions() {
  if (!transactions_) transactions_ = hw::probe_transactions();
  return *transactions_;
}

void world::poison(const std::string& text) { messages_->protocols().poison(rank_, text); }
bool world::poisoned() const noexcept { return messages_->protocols().poisoned(); }
void world::throw_if_poisoned() const { messages_->protocols().throw_if_poisoned(); }

void world::cancel() noexcept { messages_->protocols().cancel(); }
bool world::interrupted() const noexcept { return messages_->interrupted(); }
void world::throw_if_interrupted() { messages_->throw_if_interrupted(); }

bool world::progress(worker_t k) { return messages_->between_chunks(k); }

task::scheduler& world::tasks() { return messages_->tasks(); }

world::run_scope::run_scope(world& w)
    : world_(w), generation_(w.messages().protocols().generation()) {
  task::expect_no_task();
  static_cast<void>(w.tasks());  // before calls of other ranks arrive
  if (w.task_service_ == nullptr && task_service::make != nullptr) {
    w.own_task_service_ = task_service::make(w);
  }
  in_call_.emplace(w);
  w.throw_if_interrupted();
}

void world::run_scope::end() {
  in_call_.reset();
  if (world_.size() > 1) world_.barrier();
  ended_ = true;
}

// After a request to cancel all ranks have left it together.
world::run_scope::~run_scope() {
  if (ended_) return;
  if (world_.messages().protocols().generation() == generation_) world_.messages().leave_run();
}

void world::run(const std::function<void(worker_t)>& f) {
  const call_guard in_call(*this);
  messages_->stoppable([&] { alone_ ? f(main_worker) : pool_->run(f); });
  throw_if_poisoned();
}

}  // namespace cairn
