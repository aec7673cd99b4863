// SPDX-License-Identifier: Apache-2.0
// Part of array_traffic: the request of an atomic operation; take and fill.
#include <mutex>
#include <optional>
#include <vector>

#include <cairn/core/progress.hpp>
#include <cairn/pgas/array_traffic.hpp>

namespace cairn::pgas {

void array_traffic::change(worker_t k, rank_t to, const array_command& command,
                           const operands<std::uint64_t>& by, void* into, std::uint32_t bytes,
                           completion& c) {
  change_command q{command, {}, {}};
  q.x.set_word(by.x);
  const bool heeds_tasks =
      command.operation() == access::take || command.operation() == access::fill;
  q.expected.set_word(heeds_tasks ? world_.messages().task_generation() : by.expected);
  ask(heeds_tasks ? full_empty_changes_ : changes_, k, to, q, answer_target_for(into, bytes, c));
}

void array_traffic::answer_full_empty(worker_t k, rank_t from,
                                      std::span<const changes::ticketed_question> batch) {
  const answers_in_progress<>::answering now(answers_, k);
  auto answer = full_empty_changes_.answer_from(k);
  const auto now_alive = world_.messages().task_generation();
  for (const auto& q : batch) {
    auto* const part = table_.part(q.question.command.id());
    const auto fault = q.question.expected.word() != now_alive     ? access_fault::stopped
                       : part == nullptr                           ? access_fault::no_array
                       : q.question.command.offset() >= part->size ? access_fault::out_of_range
                       : !part->states                             ? access_fault::no_full_empty
                                                                   : access_fault::none;
    if (fault == access_fault::none) {
      change_full_empty(from, *part, q, answer);
    } else {
      answer(from, with_fault(q.by, fault), {});
    }
  }
}

// No value goes to a task that was destroyed: nobody would have it.
void array_traffic::change_full_empty(rank_t from, array_part& part,
                                      const changes::ticketed_question& q,
                                      changes::answerer& answer) {
  const auto i = q.question.command.offset();
  auto* const element = part.element(i);
  const copied_bytes one_element{.in_all = part.element_bytes, .per_element = part.element_bytes};
  element_bytes<8> value{};
  const auto now = static_cast<std::uint32_t>(q.question.expected.word());
  const bool takes = q.question.command.operation() == access::take;
  bool done = true;
  std::optional<full_empty::taker> taker;
  std::vector<full_empty::taker> destroyed;
  {
    const std::lock_guard held(part.states->guard);
    if (takes) {
      done = part.states->take(i, {from, q.by, now}, destroyed);  // otherwise when it is filled
      if (done) load_elements(value.data(), element, one_element);
    } else {
      store_elements(element, q.question.x.data(), one_element);
      taker = part.states->fill(i, now, destroyed);
    }
  }
  for (const auto& t : destroyed) answer(t.from, with_fault(t.by, access_fault::stopped), {});
  if (taker) answer(taker->from, taker->by, q.question.x);
  if (done) answer(from, q.by, value);
}

void array_traffic::fail(worker_t k, const full_empty::taker& t) {
  full_empty_changes_.answer_from(k)(t.from, with_fault(t.by, access_fault::freed_meanwhile), {});
}

}  // namespace cairn::pgas
