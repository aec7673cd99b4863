// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <cairn/am/pending_calls.hpp>
#include <cairn/am/record_channel.hpp>
#include <cairn/am/ticket.hpp>
#include <cairn/core/task_service.hpp>
#include <cairn/core/world.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/task/promise.hpp>
#include <cairn/task/spin_lock.hpp>

namespace cairn::am {

class remote_calls;

/// The caller's end of a pending call: its task and the destination of the answer.
class awaited_answer {
 public:
  /// What an answer holds: a value, or the text of an exception.
  enum class kind : std::uint32_t { value, exception };
  /// Stores the answer; the task is suspended.
  virtual void receive(kind k, std::span<const std::byte> bytes) = 0;

 protected:
  ~awaited_answer() = default;
};

/// Where the answer to a call goes.
struct call_origin {
  rank_t from;
  std::uint32_t generation;
  ticket by;
};

/// A function that other ranks may call. All remote functions of a program are in one list, which
/// is complete before main(). A function is named by a hash of its name, so that the ranks of one
/// program agree.
struct remote_function {
  using start_function = void (*)(remote_calls&, worker_t, const call_origin&,
                                  std::span<const std::byte> arguments);

  remote_function(std::string_view its_name, start_function its_start) noexcept;

  std::string_view name;
  std::uint32_t id;
  start_function start;
  const remote_function* next;
};

/// Carries the calls of a world's tasks (call.hpp): a record for each call and each answer, on two
/// standing channels, so that both are coalesced.
///
/// A call carries a ticket of the caller's worker, and the generation of the tasks: calls and
/// answers of destroyed tasks are discarded. There are no credits: a call whose function calls
/// back could wait for credits that wait for its own answer. The number of pending calls is
/// bounded, because a task awaits each.
///
/// Collective constructor and destructor. It checks that all ranks know the same functions.
/// Throws    contract_violation if they do not, or if two functions have one name
class remote_calls final : public task_service {
 public:
  explicit remote_calls(world& w);
  ~remote_calls() override;

  /// Of a world that runs tasks.
  /// Throws    contract_violation if it has run none
  [[nodiscard]] static remote_calls& of(world& w);

  [[nodiscard]] world& owning_world() noexcept { return world_; }

  /// Calls a function at rank `to`; its answer reaches `answer`, and the task becomes ready on its
  /// worker. Called by that worker.
  template <packable... Arguments>
  void ask(rank_t to, const remote_function& f, task::suspended t, awaited_answer& answer,
           const Arguments&... arguments) {
    const auto k = t.worker();
    const call_header header{remember(k, t, answer), f.id, generation()};
    questions_.send_packed(k, to, header, arguments...);
  }
  /// Worker k answers a call.
  template <packable... Value>
  void answer(worker_t k, const call_origin& to, awaited_answer::kind kind, const Value&... value) {
    answers_.send_packed(k, to.from, ticketed_answer{to.by, to.generation, kind}, value...);
  }

 private:
  struct call_header {
    ticket by;
    std::uint32_t function, generation;
  };
  struct ticketed_answer {
    ticket to;
    std::uint32_t generation;
    awaited_answer::kind kind;
  };
  struct pending_call {
    task::suspended by;
    awaited_answer* answer;
  };
  // Answers may be handled on another worker than the one that asked.
  struct worker_state {
    task::spin_lock guard;
    pending_calls<pending_call> calls;
  };

  [[nodiscard]] std::uint32_t generation() const noexcept {
    return world_.messages().task_generation();
  }
  [[nodiscard]] ticket remember(worker_t k, task::suspended t, awaited_answer& answer);
  void collect_functions();
  [[nodiscard]] const remote_function& function(std::uint32_t id) const;
  void on_questions(worker_t k, rank_t from, record_batch batch);
  void on_answers(worker_t k, record_batch batch);

  world& world_;
  std::vector<const remote_function*> functions_;  // by id
  task::per_worker<worker_state> workers_;
  record_channel answers_, questions_;
};

}  // namespace cairn::am
