// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <cairn/am/request.hpp>
#include <cairn/am/slot_table.hpp>
#include <cairn/core/world.hpp>
#include <cairn/pgas/array_command.hpp>
#include <cairn/pgas/array_table.hpp>
#include <cairn/pgas/completion.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/task/scheduler.hpp>

namespace cairn::pgas {

/// Carries accesses to elements of other ranks, as requests (am/request.hpp): commands and answers
/// are coalesced, and credits bound those in flight.
///
/// Elements of 1, 2, 4 or 8 bytes, others of up to 16, and pieces of 64 bytes have channels of
/// their own, for reads and for writes; all atomics share one. Takes and fills share another, where
/// the tasks that await them are the bound: a take may wait for a fill, which therefore never waits
/// for credit.
///
/// A function that sends adds 1 to the completion's `outstanding` for each question; the answer
/// subtracts it. `into` and the completion must exist until then, unless all tasks of the rank are
/// destroyed before. A function that throws has sent nothing, or the world has failed.
///
/// After a cancellation an owner discards what destroyed tasks of other ranks have asked it to
/// change. Questions that change elements therefore carry the generation of their task.
///
/// Collective constructor and destructor
/// Thread-safety  worker k calls the functions that take k
class array_traffic {
 public:
  /// share_gets   see global_memory_options
  array_traffic(world& w, array_table& table, bool share_gets);
  /// Ranges on their way end with the portions that were sent.
  ~array_traffic() {
    world_.pool().while_not_polling([this] { ends_ = true; });
  }
  array_traffic(const array_traffic&) = delete;
  array_traffic& operator=(const array_traffic&) = delete;

  // get_word and put_word are inlined into tasks, so that the question stays in registers.
  [[gnu::always_inline]] void get_word(worker_t k, rank_t to, const array_command& command,
                                       void* into, std::uint32_t bytes, completion& c) {
    if (shares_gets_) [[unlikely]]
      return get_shared_word(k, to, command, into, bytes, c);
    ask(get_words_, k, to, get_command{command}, answer_target_for(into, bytes, c));
  }
  void get_pair(worker_t k, rank_t to, const array_command& command, void* into,
                std::uint32_t bytes, completion& c);
  /// Bytes of a part from a byte offset on, in pieces.
  void get_bytes(worker_t k, rank_t to, const array_id& id, std::uint64_t offset,
                 std::span<std::byte> into, completion& c);
  [[gnu::always_inline]] void put_word(worker_t k, rank_t to, const array_command& command,
                                       std::uint64_t x, completion& c) {
    put_command<8> q{command, {}};
    q.value.set_word(x);
    ask(put_words_, k, to, q, answer_target_for(nullptr, 0, c));
  }
  void put_pair(worker_t k, rank_t to, const array_command& command, const void* from,
                std::uint32_t bytes, completion& c);
  void put_bytes(worker_t k, rank_t to, const array_id& id, std::uint64_t offset,
                 std::span<const std::byte> from, completion& c);
  /// An atomic operation, take or fill. `into` receives the previous value; it may be null.
  void change(worker_t k, rank_t to, const array_command& command,
              const operands<std::uint64_t>& by, void* into, std::uint32_t bytes, completion& c);

  /// Waits until no other thread than k uses a part that has been dropped.
  void wait_for_other_answers(worker_t k) { answers_.wait_for_others(world_.pool(), k); }
  /// Worker k answers a task that waits for an element of a freed part.
  void fail(worker_t k, const full_empty::taker& t);

  /// A group of operations of worker k. Its owner ends it by abandon().
  [[nodiscard]] group_completion& new_group(worker_t k);
  /// Number of groups of worker k that have not ended, or whose answers have not all come.
  [[nodiscard]] std::size_t num_groups(worker_t k) const noexcept {
    std::size_t n = 0;
    const auto& ring = workers_[k].groups;
    for (const auto* g = ring.next; g != &ring; g = g->next) ++n;
    return n;
  }

  [[nodiscard]] task::scheduler& tasks() noexcept { return tasks_; }

 private:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::size_t num_shared_lines = 1024;
  // A ticket's slot has a number of 32 bits, 13 bits of the asker's task generation if the question
  // changes elements, and an access_fault.
  static constexpr unsigned generation_shift = 32, fault_shift = 45;
  static constexpr std::uint64_t generation_mask =
      (std::uint64_t{1} << fault_shift) - (std::uint64_t{1} << generation_shift);

  struct answer_target {  // the destination of an answer
    void* into;
    completion* by;
    std::uint32_t generation;  // of the rank's tasks
    std::uint32_t next;        // target of another get of the same element
    std::uint16_t bytes;
    std::uint16_t shared;  // 1 + the line of `shared_gets` that leads here, or 0
    bool of_group;
  };
  struct shared_get {  // a get in flight that others may join
    array_command command;
    std::uint32_t first = none;  // the target that joined last
    rank_t to = -1;              // -1: none
  };
  struct worker_state {
    worker_state() = default;
    worker_state(const worker_state&) = delete;
    worker_state& operator=(const worker_state&) = delete;
    ~worker_state() {  // after the channels, which take in answers until their end
      while (groups.next != &groups) {
        auto& g = *groups.next;
        g.leave();
        if (g.abandoned) delete &g;
      }
    }
    am::slot_table<answer_target> answer_targets;
    std::vector<shared_get> shared_gets;
    group_completion groups;  // the beginning of a ring
  };

  template <class Request, class Question>
  [[gnu::always_inline]] void ask(Request& request, worker_t k, rank_t to, const Question& q,
                                  const answer_target& target) {
    const auto slot = workers_[k].answer_targets.put(target);
    ++target.by->outstanding;
    request.from(k)(to, q, am::slot(only_reads<Question> ? slot : slot | generation()));
  }
  template <class Question>
  static constexpr bool only_reads =
      std::same_as<Question, get_command> || std::same_as<Question, get_piece_command>;
  // The task generation, at its place in a slot.
  [[nodiscard, gnu::always_inline]] std::uint64_t generation() const noexcept {
    return std::uint64_t{world_.messages().task_generation()} << generation_shift & generation_mask;
  }
  // Inlined together with slot_table::put, so that the target stays in registers: a read of a whole
  // target that was written in parts would wait for all earlier writes.
  [[nodiscard, gnu::always_inline]] answer_target answer_target_for(void* into, std::uint32_t bytes,
                                                                    completion& c) noexcept {
    return {into, &c, tasks_.generation(), none, static_cast<std::uint16_t>(bytes), 0, c.is_group};
  }
  void get_shared_word(worker_t k, rank_t to, const array_command& command, void* into,
                       std::uint32_t bytes, completion& c);
  [[nodiscard]] bool join_shared_get(worker_t k, rank_t to, const array_command& command,
                                     answer_target& target, std::uint16_t& line);

  template <class Request, class Act>
  void answer_all(Request& request, worker_t k, rank_t from,
                  std::span<const typename Request::ticketed_question> batch, Act&& act);
  template <class Answered>
  void receive_answers(worker_t k, std::span<const Answered> batch);
  // The receiver of a request's answers.
  template <class Request>
  [[nodiscard]] auto receiver_of();
  template <class Answer>
  void deliver_answer(worker_t k, const answer_target& target, const Answer& answer,
                      access_fault fault);
  static am::ticket with_fault(const am::ticket& t, access_fault fault) noexcept {
    return {t.worker(), am::slot(t.number() | static_cast<std::uint64_t>(fault) << fault_shift)};
  }

  using word_gets = am::request<get_command, element_bytes<8>>;
  using pair_gets = am::request<get_command, element_bytes<16>>;
  using piece_gets = am::request<get_piece_command, element_bytes<piece_bytes>>;
  using word_puts = am::request<put_command<8>, put_done>;
  using pair_puts = am::request<put_command<16>, put_done>;
  using piece_puts = am::request<put_piece_command, put_done>;
  using changes = am::request<change_command, element_bytes<8>>;

  void answer_full_empty(worker_t k, rank_t from,
                         std::span<const changes::ticketed_question> batch);
  void change_full_empty(rank_t from, array_part& part, const changes::ticketed_question& q,
                         changes::answerer& answer);

  world& world_;
  task::scheduler& tasks_;
  array_table& table_;
  answers_in_progress<> answers_;
  const bool shares_gets_;
  bool ends_ = false;  // the requests are being destroyed
  task::per_worker<worker_state> workers_;
  word_gets get_words_;
  pair_gets get_pairs_;
  piece_gets get_pieces_;
  word_puts put_words_;
  pair_puts put_pairs_;
  piece_puts put_pieces_;
  changes changes_;
  changes full_empty_changes_;
};

}  // namespace cairn::pgas
