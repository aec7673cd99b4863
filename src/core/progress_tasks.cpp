// SPDX-License-Identifier: Apache-2.0
// Part of progress_engine: the tasks of a rank, and the functions that their scheduler calls.
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

// Several ranks count their stops, because they must agree on it. One rank counts every end of its
// tasks, also by a run that has failed, after which it may go on.
std::uint32_t progress_engine::next_task_generation() const noexcept {
  return size_ == 1 ? task_generation() + 1 : control_.generation() + 1;
}

void progress_engine::close_tasks() noexcept {
  destroy_tasks(size_ == 1 ? next_task_generation() : ~std::uint32_t{0});
}

// If there were tasks, the scheduler has already changed the number by before_destroying_tasks().
void progress_engine::destroy_tasks(std::uint32_t next_generation) noexcept {
  if (tasks_) tasks_->destroy_all();
  task_generation_.store(next_generation, std::memory_order_release);
}

// The number does not change earlier, because a task that still runs on another worker would send
// the next number. It does not change later, because an answer to a destroyed task would be
// accepted. No message with the next number arrives until all ranks have stopped.
void progress_engine::before_destroying_tasks() noexcept {
  task_generation_.store(next_task_generation(), std::memory_order_release);
}

void progress_engine::between_batches(worker_t k) noexcept {
  try {
    static_cast<void>(between_chunks(k));
  } catch (...) {  // out of memory, or a simulated cluster has stalled
    control_.poison(rank_, text_of_exception());
  }
}

void progress_engine::chose_in_flight(worker_t k, std::size_t tasks) noexcept {
  trace_.note(k, obs::trace_kind::choice, "prefetching tasks", {.amount = tasks});
}

void progress_engine::failed(std::exception_ptr error) noexcept {
  try {
    std::rethrow_exception(std::move(error));
  } catch (...) {
    control_.poison(rank_, text_of_exception());
  }
}

}  // namespace cairn
