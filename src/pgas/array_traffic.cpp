// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include <cairn/pgas/array_traffic.hpp>

namespace cairn::pgas {
namespace {

constexpr am::request_options standing{.kind = channel_kind::standing};
constexpr am::request_options standing_without_bound{
    .kind = channel_kind::standing, .max_unanswered = std::numeric_limits<std::uint32_t>::max()};

// Copies a value of 1, 2, 4 or 8 bytes without a call.
void copy_value(void* to, const void* from, std::size_t bytes) noexcept {
  switch (bytes) {
    case 8:
      std::memcpy(to, from, 8);
      return;
    case 4:
      std::memcpy(to, from, 4);
      return;
    case 2:
      std::memcpy(to, from, 2);
      return;
    case 1:
      std::memcpy(to, from, 1);
      return;
    default:
      std::memcpy(to, from, bytes);
  }
}

template <class U>
[[nodiscard]] std::uint64_t word_at(const std::byte* element) noexcept {
  return load_element(reinterpret_cast<const U&>(*element));
}
[[nodiscard]] inline std::uint64_t load_word(const std::byte* element, std::size_t bytes) noexcept {
  if (bytes == 8) [[likely]]
    return word_at<std::uint64_t>(element);
  if (bytes == 4) return word_at<std::uint32_t>(element);
  return bytes == 2 ? word_at<std::uint16_t>(element) : word_at<std::uint8_t>(element);
}
inline void store_word(std::byte* element, std::uint64_t x, std::size_t bytes) noexcept {
  if (bytes == 8) [[likely]]
    return store_element(reinterpret_cast<std::uint64_t&>(*element), x);
  store_elements(element, &x, {.in_all = bytes, .per_element = bytes});
}

[[nodiscard]] bool covers(const array_part& p, std::uint64_t offset, std::uint32_t bytes) noexcept {
  const auto all = p.size * p.element_bytes;
  return bytes <= piece_bytes && offset <= all && bytes <= all - offset;
}

// How many questions ahead of the answered one an element is fetched into the cache.
constexpr std::size_t ahead = 12;
// The same for answers, and the frames of the tasks that wait for them.
constexpr std::size_t frames_ahead = 8;

// Fetches the element of a question, if it is about the same part; otherwise some address, which
// does no harm.
template <class Asked>
void fetch_ahead(const array_part& part, std::span<const Asked> batch, std::size_t j) noexcept {
  if (j + ahead >= batch.size()) return;
  const auto& q = batch[j + ahead].question;
  const bool counts_bytes = requires { q.bytes; };
  __builtin_prefetch(part.data + q.command.offset() * (counts_bytes ? 1 : part.element_bytes));
}

}  // namespace

// Answers at the owner -----------------------------------------------------------------------

// Calls act(part, question, answer) for each question about an existing array. act returns a
// fault, or fills the answer.
template <class Request, class Act>
void array_traffic::answer_all(Request& request, worker_t k, rank_t from,
                               std::span<const typename Request::ticketed_question> batch,
                               Act&& act) {
  const answers_in_progress<>::answering now(answers_, k);
  auto send = request.answer_from(k);
  constexpr bool reads = only_reads<decltype(batch.front().question)>;
  const auto now_alive = generation();
  const array_part* part = nullptr;
  const array_command* last = nullptr;
  for (std::size_t j = 0; j < batch.size(); ++j) {
    const auto& q = batch[j];
    const auto& command = q.question.command;
    if (last == nullptr || !last->same_array(command)) {
      part = table_.part(command.id());
      last = &command;
    }
    decltype(typename Request::ticketed_answer{}.answer) answer{};
    auto fault = access_fault::no_array;
    if (!reads && (q.by.number() & generation_mask) != now_alive) [[unlikely]] {
      fault = access_fault::stopped;
    } else if (part != nullptr) [[likely]] {
      fetch_ahead(*part, batch, j);
      fault = act(*part, q.question, answer);
    }
    send(from, fault == access_fault::none ? q.by : with_fault(q.by, fault), answer);
  }
}

// Answers at the asker ------------------------------------------------------------------------

template <class Answer>
void array_traffic::deliver_answer(worker_t k, const answer_target& target, const Answer& answer,
                                   access_fault fault) {
  const bool frames_exist = target.generation == tasks_.generation();
  if (!frames_exist && !target.of_group) return;
  auto& c = *target.by;
  auto* const group = target.of_group ? static_cast<group_completion*>(&c) : nullptr;
  const bool abandoned = group != nullptr && group->abandoned;
  // This rank stops soon, and destroys the task, which must not see what was discarded.
  if (fault == access_fault::stopped && frames_exist && !abandoned) {
    if (group != nullptr) ++group->discarded;
    return;
  }
  if constexpr (requires { answer.data(); }) {
    if (fault == access_fault::none && frames_exist && !abandoned && target.into != nullptr) {
      copy_value(target.into, answer.data(), target.bytes);
    }
  }
  if (fault != access_fault::none) c.fault = fault;
  if (--c.outstanding != 0) return;
  if (abandoned) {
    delete group;
  } else if (c.waits && frames_exist) {
    c.waits = false;
    tasks_.ready_here(k, c.waiter);
  } else if (c.continues && frames_exist && !ends_) {
    auto& portion = static_cast<portion_completion&>(c);
    const auto waiter = c.waiter;
    if (portion.next(portion, k)) tasks_.ready_here(k, waiter);
  }
}

template <class Answered>
void array_traffic::receive_answers(worker_t k, std::span<const Answered> batch) {
  auto& mine = workers_[k];
  constexpr auto slot_of = [](const am::ticket& t) {
    return t.number() & ((std::uint64_t{1} << generation_shift) - 1);
  };
  for (std::size_t j = 0; j < batch.size(); ++j) {
    const auto& m = batch[j];
    if (j + frames_ahead < batch.size()) {
      // Into the frame of a task that has waited for long. An answer twice would be another error.
      __builtin_prefetch(mine.answer_targets[slot_of(batch[j + frames_ahead].to)].by);
    }
    const auto fault = static_cast<access_fault>(m.to.number() >> fault_shift);
    const auto slot = slot_of(m.to);
    const auto target = mine.answer_targets.take(slot);
    if (target.shared != 0) [[unlikely]] {
      // The line leads to the gets that have joined, the last of them first, and then to target.
      const auto first = std::exchange(mine.shared_gets[target.shared - 1u], {}).first;
      for (auto at = first; at != slot;) {
        const auto other = mine.answer_targets.take(at);
        at = other.next;
        deliver_answer(k, other, m.answer, fault);
      }
    }
    deliver_answer(k, target, m.answer, fault);
  }
}

template <class Request>
auto array_traffic::receiver_of() {
  return [this](worker_t k, std::span<const typename Request::ticketed_answer> batch) {
    receive_answers(k, batch);
  };
}

// The channels -------------------------------------------------------------------------------

array_traffic::array_traffic(world& w, array_table& table, bool share_gets)
    : world_(w),
      tasks_(w.tasks()),
      table_(table),
      answers_(w.handling_threads()),
      shares_gets_(share_gets),
      workers_(w.handling_threads()),
      get_words_(
          w,
          [this](worker_t k, rank_t from, std::span<const word_gets::ticketed_question> batch) {
            answer_all(get_words_, k, from, batch,
                       [](const array_part& p, const get_command& q, element_bytes<8>& answer) {
                         const auto i = q.command.offset();
                         if (i >= p.size) return access_fault::out_of_range;
                         answer.set_word(load_word(p.element(i), p.element_bytes));
                         return access_fault::none;
                       });
          },
          receiver_of<word_gets>(), standing),
      get_pairs_(
          w,
          [this](worker_t k, rank_t from, std::span<const pair_gets::ticketed_question> batch) {
            answer_all(get_pairs_, k, from, batch,
                       [](const array_part& p, const get_command& q, element_bytes<16>& answer) {
                         const auto i = q.command.offset();
                         if (i >= p.size) return access_fault::out_of_range;
                         std::memcpy(answer.data(), p.element(i), p.element_bytes);
                         return access_fault::none;
                       });
          },
          receiver_of<pair_gets>(), standing),
      get_pieces_(
          w,
          [this](worker_t k, rank_t from, std::span<const piece_gets::ticketed_question> batch) {
            answer_all(get_pieces_, k, from, batch,
                       [](const array_part& p, const get_piece_command& q,
                          element_bytes<piece_bytes>& answer) {
                         if (!covers(p, q.command.offset(), q.bytes)) {
                           return access_fault::out_of_range;
                         }
                         load_elements(answer.data(), p.data + q.command.offset(),
                                       {.in_all = q.bytes, .per_element = p.element_bytes});
                         return access_fault::none;
                       });
          },
          receiver_of<piece_gets>(), standing),
      put_words_(
          w,
          [this](worker_t k, rank_t from, std::span<const word_puts::ticketed_question> batch) {
            answer_all(put_words_, k, from, batch,
                       [](const array_part& p, const put_command<8>& q, put_done&) {
                         const auto i = q.command.offset();
                         if (i >= p.size) return access_fault::out_of_range;
                         store_word(p.element(i), q.value.word(), p.element_bytes);
                         return access_fault::none;
                       });
          },
          receiver_of<word_puts>(), standing),
      put_pairs_(
          w,
          [this](worker_t k, rank_t from, std::span<const pair_puts::ticketed_question> batch) {
            answer_all(put_pairs_, k, from, batch,
                       [](const array_part& p, const put_command<16>& q, put_done&) {
                         const auto i = q.command.offset();
                         if (i >= p.size) return access_fault::out_of_range;
                         std::memcpy(p.element(i), q.value.data(), p.element_bytes);
                         return access_fault::none;
                       });
          },
          receiver_of<pair_puts>(), standing),
      put_pieces_(
          w,
          [this](worker_t k, rank_t from, std::span<const piece_puts::ticketed_question> batch) {
            answer_all(put_pieces_, k, from, batch,
                       [](const array_part& p, const put_piece_command& q, put_done&) {
                         if (!covers(p, q.command.offset(), q.bytes)) {
                           return access_fault::out_of_range;
                         }
                         store_elements(p.data + q.command.offset(), q.value.data(),
                                        {.in_all = q.bytes, .per_element = p.element_bytes});
                         return access_fault::none;
                       });
          },
          receiver_of<piece_puts>(), standing),
      changes_(
          w,
          [this](worker_t k, rank_t from, std::span<const changes::ticketed_question> batch) {
            answer_all(
                changes_, k, from, batch,
                [](const array_part& p, const change_command& q, element_bytes<8>& found) {
                  const auto i = q.command.offset();
                  if (i >= p.size) return access_fault::out_of_range;
                  found.set_word(changed(q.command.operation(), q.command.kind(), p.element_bytes,
                                         p.element(i), {q.x.word(), q.expected.word()}));
                  return access_fault::none;
                });
          },
          receiver_of<changes>(), standing),
      full_empty_changes_(
          w,
          [this](worker_t k, rank_t from, std::span<const changes::ticketed_question> batch) {
            answer_full_empty(k, from, batch);
          },
          receiver_of<changes>(), standing_without_bound) {
  if (!share_gets) return;
  for (auto& l : workers_) l.value.shared_gets.resize(num_shared_lines);
}

group_completion& array_traffic::new_group(worker_t k) {
  auto& g = *new group_completion;
  g.join(workers_[k].groups);
  return g;
}

}  // namespace cairn::pgas
