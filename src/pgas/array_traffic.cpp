// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include <cairn/base/contract.hpp>
#include <cairn/base/random.hpp>
#include <cairn/core/progress.hpp>
#include <cairn/pgas/array_traffic.hpp>

namespace cairn::pgas {
namespace {

constexpr std::size_t shared_lines = 1024;

constexpr am::request_options standing{.kind = channel_kind::standing};

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
  store_elements(element, &x, bytes, bytes);
}

[[nodiscard]] std::byte* element_at(const array_part& p, std::uint64_t offset) noexcept {
  return p.data + offset * p.element_bytes;
}

[[nodiscard]] bool covers(const array_part& p, std::uint64_t offset, std::uint32_t bytes) noexcept {
  const auto all = p.size * p.element_bytes;
  return bytes <= piece_bytes && offset <= all && bytes <= all - offset;
}

}  // namespace

void expect_no_fault(access_fault fault) {
  switch (fault) {
    case access_fault::none:
      return;
    case access_fault::no_array:
      CAIRN_EXPECTS(false, "the global array was freed, or never allocated");
      return;
    case access_fault::out_of_range:
      CAIRN_EXPECTS(false, "an element beyond the end of a global array");
      return;
    case access_fault::no_full_empty:
      CAIRN_EXPECTS(false, "the global array was allocated without full/empty elements");
      return;
    case access_fault::freed_meanwhile:
      CAIRN_EXPECTS(false, "the global array was freed while a task waited for an element");
  }
}

namespace {

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

// Calls act(part, question, answer) for each question about an array that exists. It returns a
// fault, or fills the answer.
template <class Request, class Do>
void array_traffic::answer_all(Request& request, worker_t k, rank_t from,
                               std::span<const typename Request::asked> batch, Do&& act) {
  auto reply = request.reply_from(k);
  const array_part* part = nullptr;
  const array_command* last = nullptr;
  for (std::size_t j = 0; j < batch.size(); ++j) {
    const auto& q = batch[j];
    const auto& command = q.question.command;
    if (last == nullptr || !last->same_array(command)) {
      part = table_.part(command.id());
      last = &command;
    }
    decltype(typename Request::replied{}.answer) answer{};
    auto fault = access_fault::no_array;
    if (part != nullptr) [[likely]] {
      fetch_ahead(*part, batch, j);
      fault = act(*part, q.question, answer);
    }
    reply(from, fault == access_fault::none ? q.by : with_fault(q.by, fault), answer);
  }
}

array_traffic::array_traffic(world& w, array_table& table, bool share_gets)
    : world_(w),
      tasks_(w.tasks()),
      table_(table),
      lanes_(w.handling_threads()),
      get_words_(
          w,
          [this](worker_t k, rank_t from, std::span<const word_gets::asked> batch) {
            answer_all(get_words_, k, from, batch,
                       [](const array_part& p, const get_command& q, element_bytes<8>& answer) {
                         const auto i = q.command.offset();
                         if (i >= p.size) return access_fault::out_of_range;
                         answer.set_word(load_word(element_at(p, i), p.element_bytes));
                         return access_fault::none;
                       });
          },
          [this](worker_t k, std::span<const word_gets::replied> batch) { land_all(k, batch); },
          standing),
      get_pairs_(
          w,
          [this](worker_t k, rank_t from, std::span<const pair_gets::asked> batch) {
            answer_all(get_pairs_, k, from, batch,
                       [](const array_part& p, const get_command& q, element_bytes<16>& answer) {
                         const auto i = q.command.offset();
                         if (i >= p.size) return access_fault::out_of_range;
                         std::memcpy(answer.data(), element_at(p, i), p.element_bytes);
                         return access_fault::none;
                       });
          },
          [this](worker_t k, std::span<const pair_gets::replied> batch) { land_all(k, batch); },
          standing),
      get_pieces_(
          w,
          [this](worker_t k, rank_t from, std::span<const piece_gets::asked> batch) {
            answer_all(get_pieces_, k, from, batch,
                       [](const array_part& p, const get_piece_command& q,
                          element_bytes<piece_bytes>& answer) {
                         if (!covers(p, q.command.offset(), q.bytes)) {
                           return access_fault::out_of_range;
                         }
                         load_elements(answer.data(), p.data + q.command.offset(), q.bytes,
                                       p.element_bytes);
                         return access_fault::none;
                       });
          },
          [this](worker_t k, std::span<const piece_gets::replied> batch) { land_all(k, batch); },
          standing),
      put_words_(
          w,
          [this](worker_t k, rank_t from, std::span<const word_puts::asked> batch) {
            answer_all(put_words_, k, from, batch,
                       [](const array_part& p, const put_command<8>& q, put_done&) {
                         const auto i = q.command.offset();
                         if (i >= p.size) return access_fault::out_of_range;
                         store_word(element_at(p, i), q.value.word(), p.element_bytes);
                         return access_fault::none;
                       });
          },
          [this](worker_t k, std::span<const word_puts::replied> batch) { land_all(k, batch); },
          standing),
      put_pairs_(
          w,
          [this](worker_t k, rank_t from, std::span<const pair_puts::asked> batch) {
            answer_all(put_pairs_, k, from, batch,
                       [](const array_part& p, const put_command<16>& q, put_done&) {
                         const auto i = q.command.offset();
                         if (i >= p.size) return access_fault::out_of_range;
                         std::memcpy(element_at(p, i), q.value.data(), p.element_bytes);
                         return access_fault::none;
                       });
          },
          [this](worker_t k, std::span<const pair_puts::replied> batch) { land_all(k, batch); },
          standing),
      put_pieces_(
          w,
          [this](worker_t k, rank_t from, std::span<const piece_puts::asked> batch) {
            answer_all(put_pieces_, k, from, batch,
                       [](const array_part& p, const put_piece_command& q, put_done&) {
                         if (!covers(p, q.command.offset(), q.bytes)) {
                           return access_fault::out_of_range;
                         }
                         store_elements(p.data + q.command.offset(), q.value.data(), q.bytes,
                                        p.element_bytes);
                         return access_fault::none;
                       });
          },
          [this](worker_t k, std::span<const piece_puts::replied> batch) { land_all(k, batch); },
          standing),
      changes_(
          w,
          [this](worker_t k, rank_t from, std::span<const changes::asked> batch) {
            answer_changes(k, from, batch);
          },
          [this](worker_t k, std::span<const changes::replied> batch) { land_all(k, batch); },
          standing) {
  if (!share_gets) return;
  for (auto& l : lanes_) l.value.shared_gets.resize(shared_lines);
}

group_completion& array_traffic::new_group(worker_t w) {
  auto& g = *new group_completion;
  g.join(lanes_[w].groups);
  return g;
}

// Atomics, take and fill ----------------------------------------------------------------------

void array_traffic::answer_changes(worker_t k, rank_t from, std::span<const changes::asked> batch) {
  auto reply = changes_.reply_from(k);
  array_part* part = nullptr;
  const array_command* last = nullptr;
  for (const auto& q : batch) {
    const auto& command = q.question.command;
    if (last == nullptr || !last->same_array(command)) {
      part = table_.part(command.id());
      last = &command;
    }
    const auto fault = part == nullptr                  ? access_fault::no_array
                       : command.offset() >= part->size ? access_fault::out_of_range
                                                        : access_fault::none;
    if (fault != access_fault::none) {
      reply(from, with_fault(q.by, fault), {});
    } else if (command.operation() == access::take || command.operation() == access::fill) {
      change_full_empty(k, from, *part, q, reply);
    } else {
      element_bytes<8> found;
      found.set_word(changed(command.operation(), command.kind(), part->element_bytes,
                             element_at(*part, command.offset()), q.question.x.word(),
                             q.question.expected.word()));
      reply(from, q.by, found);
    }
  }
}

// After all ranks have destroyed their tasks, no value goes to one of them: nobody would have it.
// While they do so, some still run tasks of the generation before.
void array_traffic::change_full_empty(worker_t, rank_t from, array_part& part,
                                      const changes::asked& q, changes::replier& reply) {
  if (!part.states) return reply(from, with_fault(q.by, access_fault::no_full_empty), {});
  const auto i = q.question.command.offset();
  auto* const element = element_at(part, i);
  element_bytes<8> value{};
  const auto asked_in = static_cast<std::uint32_t>(q.question.expected.word());
  const auto now = world_.messages().task_generation();
  if (q.question.command.operation() == access::take) {
    {
      const full_empty::taker t{from, q.by, asked_in};
      const std::lock_guard held(part.states->guard);
      if (asked_in != now) return part.states->wait(i, t);  // a later fill() discards it
      if (!part.states->take(i, t)) return;                 // answered when it is filled
      load_elements(value.data(), element, part.element_bytes, part.element_bytes);
    }
    return reply(from, q.by, value);
  }
  std::optional<full_empty::taker> taker;
  std::vector<full_empty::taker> destroyed;
  {
    const std::lock_guard held(part.states->guard);
    store_elements(element, q.question.x.data(), part.element_bytes, part.element_bytes);
    taker = part.states->fill(i);
    while (taker && taker->generation != asked_in && taker->generation != now) {
      destroyed.push_back(*taker);
      taker = part.states->fill(i);
    }
  }
  for (const auto& t : destroyed) {
    reply(t.from, with_fault(t.by, access_fault::freed_meanwhile), {});
  }
  if (taker) reply(taker->from, taker->by, q.question.x);
  reply(from, q.by, value);
}

void array_traffic::fail(worker_t w, const full_empty::taker& t) {
  changes_.reply_from(w)(t.from, with_fault(t.by, access_fault::freed_meanwhile), {});
}

// Questions -----------------------------------------------------------------------------------

array_traffic::reply_target array_traffic::reply_target_for(void* into, std::uint32_t bytes,
                                                            completion& c) noexcept {
  ++c.outstanding;
  return {into, &c, tasks_.generation(), none, static_cast<std::uint16_t>(bytes), 0, c.is_group};
}

// Joins a get of the same element that is in flight, or becomes one that others may join.
bool array_traffic::joined(worker_t w, rank_t to, const array_command& command, reply_target& l,
                           std::uint16_t& line) {
  auto& mine = lanes_[w];
  const auto hash = mix64(command.offset() ^ static_cast<std::uint64_t>(to) << 48 ^
                          static_cast<std::uint64_t>(command.id().slot) << 32);
  auto& s = mine.shared_gets[hash % shared_lines];
  if (s.to == to && s.command == command) {
    l.next = s.first;
    s.first = static_cast<std::uint32_t>(mine.reply_targets.put(l));
    return true;
  }
  if (s.to < 0) line = static_cast<std::uint16_t>(1 + hash % shared_lines);
  return false;
}

void array_traffic::get_word(worker_t w, rank_t to, const array_command& command, void* into,
                             std::uint32_t bytes, completion& c) {
  auto l = reply_target_for(into, bytes, c);
  auto& mine = lanes_[w];
  if (!mine.shared_gets.empty()) {
    if (joined(w, to, command, l, l.shared)) return;
    const auto slot = mine.reply_targets.put(l);
    if (l.shared != 0) {
      mine.shared_gets[l.shared - 1u] = {command, static_cast<std::uint32_t>(slot), to};
    }
    return get_words_.from(w)(to, {command}, slot);
  }
  ask(get_words_, w, to, get_command{command}, l);
}

void array_traffic::get_pair(worker_t w, rank_t to, const array_command& command, void* into,
                             std::uint32_t bytes, completion& c) {
  ask(get_pairs_, w, to, get_command{command}, reply_target_for(into, bytes, c));
}

void array_traffic::get_bytes(worker_t w, rank_t to, const array_id& id, std::uint64_t offset,
                              std::span<std::byte> into, completion& c) {
  while (!into.empty()) {
    const auto piece = into.first(std::min(into.size(), piece_bytes));
    const auto bytes = static_cast<std::uint32_t>(piece.size());
    ask(get_pieces_, w, to, get_piece_command{{id, offset, access::get}, bytes},
        reply_target_for(piece.data(), bytes, c));
    offset += bytes;
    into = into.subspan(bytes);
  }
}

void array_traffic::put_word(worker_t w, rank_t to, const array_command& command, std::uint64_t x,
                             completion& c) {
  put_command<8> q{command, {}};
  q.value.set_word(x);
  ask(put_words_, w, to, q, reply_target_for(nullptr, 0, c));
}

void array_traffic::put_pair(worker_t w, rank_t to, const array_command& command, const void* from,
                             std::uint32_t bytes, completion& c) {
  put_command<16> q{command, {}};
  std::memcpy(q.value.data(), from, bytes);
  ask(put_pairs_, w, to, q, reply_target_for(nullptr, 0, c));
}

void array_traffic::put_bytes(worker_t w, rank_t to, const array_id& id, std::uint64_t offset,
                              std::span<const std::byte> from, completion& c) {
  while (!from.empty()) {
    const auto piece = from.first(std::min(from.size(), piece_bytes));
    const auto bytes = static_cast<std::uint32_t>(piece.size());
    put_piece_command q{{id, offset, access::put}, bytes, {}};
    std::memcpy(q.value.data(), piece.data(), bytes);
    ask(put_pieces_, w, to, q, reply_target_for(nullptr, 0, c));
    offset += bytes;
    from = from.subspan(bytes);
  }
}

void array_traffic::change(worker_t w, rank_t to, const array_command& command, std::uint64_t x,
                           std::uint64_t expected, void* into, std::uint32_t bytes, completion& c) {
  change_command q{command, {}, {}};
  q.x.set_word(x);
  const bool heeds_tasks =
      command.operation() == access::take || command.operation() == access::fill;
  q.expected.set_word(heeds_tasks ? world_.messages().task_generation() : expected);
  ask(changes_, w, to, q, reply_target_for(into, bytes, c));
}

// Answers -------------------------------------------------------------------------------------

template <class Answer>
void array_traffic::deliver_reply(worker_t w, const reply_target& l, const Answer& answer,
                                  access_fault fault) {
  const bool frames_exist = l.generation == tasks_.generation();
  if (!frames_exist && !l.of_group) return;
  auto& c = *l.by;
  auto* const group = l.of_group ? static_cast<group_completion*>(&c) : nullptr;
  const bool abandoned = group != nullptr && group->abandoned;
  if constexpr (requires { answer.data(); }) {
    if (fault == access_fault::none && frames_exist && !abandoned && l.into != nullptr) {
      copy_value(l.into, answer.data(), l.bytes);
    }
  }
  if (fault != access_fault::none) c.fault = fault;
  if (--c.outstanding != 0) return;
  if (abandoned) {
    delete group;
  } else if (c.waits && frames_exist) {
    c.waits = false;
    tasks_.ready(w, c.waiter);
  }
}

template <class Replied>
void array_traffic::land_all(worker_t w, std::span<const Replied> batch) {
  auto& mine = lanes_[w];
  constexpr auto slot_of = [](const am::ticket& t) {
    return t.slot() & ((std::uint64_t{1} << fault_shift) - 1);
  };
  for (std::size_t j = 0; j < batch.size(); ++j) {
    const auto& m = batch[j];
    if (j + frames_ahead < batch.size()) {
      // Into the frame of a task that has waited for long. An answer twice would be another error.
      __builtin_prefetch(mine.reply_targets[slot_of(batch[j + frames_ahead].to)].by);
    }
    const auto fault = static_cast<access_fault>(m.to.slot() >> fault_shift);
    const auto slot = slot_of(m.to);
    const auto l = mine.reply_targets.take(slot);
    if (l.shared != 0) [[unlikely]] {
      // The line leads to the gets that have joined, the last of them first, and then to l.
      const auto first = std::exchange(mine.shared_gets[l.shared - 1u], {}).first;
      for (auto at = first; at != slot;) {
        const auto other = mine.reply_targets.take(at);
        at = other.next;
        deliver_reply(w, other, m.answer, fault);
      }
    }
    deliver_reply(w, l, m.answer, fault);
  }
}

}  // namespace cairn::pgas
