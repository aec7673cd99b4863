// SPDX-License-Identifier: Apache-2.0
// The tasks of a rank, and what their scheduler asks of the world.
#include <cstdint>
#include <exception>
#include <memory>
#include <utility>

#include <cairn/base/error.hpp>
#include <cairn/core/progress.hpp>

namespace cairn {

task::scheduler& progress_engine::tasks() {
  if (!tasks_) {
    tasks_ = std::make_unique<task::scheduler>(
        pool_,
        task::scheduler_options{.threads = threads_, .in_flight = prefetching_, .host = this});
  }
  return *tasks_;
}

// The scheduler has changed the number by then, if there were tasks (destroys_tasks).
void progress_engine::destroy_tasks(std::uint32_t next_generation) noexcept {
  if (tasks_) tasks_->destroy_all();
  task_generation_.store(next_generation, std::memory_order_release);
}

// Not before: a task that still runs on another worker would call with the next number. Not after:
// the answer to a destroyed task would be taken in. No message with the next number arrives until
// all ranks have stopped.
void progress_engine::destroys_tasks() noexcept {
  task_generation_.store(control_.generation() + 1, std::memory_order_release);
}

void progress_engine::between_batches(worker_t w) noexcept {
  try {
    static_cast<void>(between_chunks(w));
  } catch (...) {  // out of memory, or a simulated cluster has stalled
    control_.poison(rank_, text_of_exception());
  }
}

void progress_engine::failed(std::exception_ptr error) noexcept {
  try {
    std::rethrow_exception(std::move(error));
  } catch (...) {
    control_.poison(rank_, text_of_exception());
  }
}

}  // namespace cairn
