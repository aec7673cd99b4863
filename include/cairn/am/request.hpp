// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <cairn/am/channel.hpp>
#include <cairn/am/credits.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/am/ticket.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/error.hpp>
#include <cairn/core/progress.hpp>
#include <cairn/core/world.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/task/pool.hpp>
#include <cairn/task/spin_lock.hpp>

namespace cairn::am {

struct request_options {
  channel_kind kind = channel_kind::epoch;
  std::size_t coalesce_bytes = 0;  ///< size of a buffer; 0: the world's choice
  /// Questions in flight from one worker to one rank.
  std::uint32_t max_unanswered = 65'536;
};

/// The stage reply: questions to elements of any rank, and their answers.
///
///   am::request<std::uint64_t, double> get(
///       world, [&](worker_t, std::uint64_t i) { return table[i]; },
///       [&](worker_t, std::uint64_t place, double x) { copies[place] = x; });
///   auto ask = get.from(worker);
///   ask(owner_of(i), i, am::slot(place));
///
/// Questions and answers are both coalesced, in an epoch in blocks of the best size from the start.
/// receive() runs on the worker that asked, so a worker's slots need no lock. A worker whose
/// questions to a rank reach the bound keeps further ones, and sends them as answers come back:
/// asking never blocks.
///
/// Question, Answer   trivially copyable, aligned to at most 16 bytes
/// answer     Answer answer(worker, question), at the rank that is asked; runs on several workers
///            at once; does not block. Or void answer(worker, from, span of ticketed_question),
///            which gives each answer to answer_from(): at once, or later in the same epoch, which
///            it then holds open.
/// receive    void receive(worker, slot, answer), once per question, or void receive(worker, span
///            of ticketed_answer); may ask again. Not called for answers that come while the
///            destructor runs
/// Kind       epoch: its end means that all answers were received; or standing
/// Messages   two per question
/// Memory     per worker, for the questions that wait for credit; at the asked rank, for at most
///            `max_unanswered` questions per asking worker
/// Throws     what an allocation throws, and poisons the world: the question may be lost
/// The answer function of a standing one also runs on the threads beside the workers, whose numbers
/// are w.workers() and above.
///
/// Collective constructor and destructor, like those of a channel. A standing one is destroyed
///            after its last answer was received.
/// Source     [GMT14] section IV.C: requests and answers are aggregated
template <class Question, class Answer>
class request final : private task::progress_source {
 public:
  struct ticketed_question {
    ticket by;
    [[no_unique_address]] Question question;
  };
  struct ticketed_answer {
    ticket to;
    [[no_unique_address]] Answer answer;
  };

  template <class AnswerFunction, class ReceiveFunction>
  request(world& w, AnswerFunction answer, ReceiveFunction receive, const request_options& opt = {})
      : world_(w),
        kind_(opt.kind),
        receive_(on_spans(std::move(receive))),
        workers_(states_of(w, opt)),
        answers_(w,
                 [this](worker_t k, rank_t from, std::span<const ticketed_answer> batch) {
                   sort_out(k, from, batch);
                 },
                 {.kind = opt.kind,
                  .coalesce_bytes = opt.coalesce_bytes,
                  .name = "answers",
                  .sends = opt.kind == channel_kind::epoch,
                  .in_bulk = opt.kind == channel_kind::epoch}),
        questions_(w, on_questions(std::move(answer)),
                   {.kind = opt.kind,
                    .coalesce_bytes = opt.coalesce_bytes,
                    .name = type_name<Question>(),
                    .in_bulk = opt.kind == channel_kind::epoch}) {
    world_.pool().add_source(*this);
  }
  ~request() {
    world_.pool().remove_source(*this);
    // Questions that a cancelled epoch left behind, or that a standing one did not wait for. They
    // are not sent any more: answers arrive until answers_ ends, but questions_ ends before. For
    // the same reason receive_, which may ask again, is not called any more.
    world_.pool().while_not_polling([this] {
      ends_ = true;
      for (worker_t k{0}; k < workers_.workers(); ++k) charge(k, -kept_bytes(k));
    });
  }
  request(const request&) = delete;
  request& operator=(const request&) = delete;

  /// A worker's end for questions: ask(rank, question, slot). Use it within one chunk, handler or
  /// body section, on that worker only.
  class asker {
   public:
    asker(request& r, worker_t k)
        : request_(r), credits_(r.credits_of(k)), send_(r.questions_.from(k)), worker_(k) {}

    [[gnu::always_inline]] void operator()(rank_t to, const Question& q, slot s) {
      const ticketed_question m{{worker_, s}, q};
      if (credits_.try_take(to)) [[likely]] {
        send_(to, m);
      } else {
        request_.keep(worker_, to, m);
      }
    }

   private:
    request& request_;
    credits& credits_;
    typename channel<ticketed_question>::sender send_;
    worker_t worker_;
  };
  [[nodiscard]] asker from(worker_t k) { return asker(*this, k); }

  /// A worker's end for answers that `answer` did not return: answer(rank, ticket, answer). The
  /// rules for an asker hold.
  class answerer {
   public:
    answerer(request& r, worker_t k) : send_(r.answers_.from(k)) {}
    [[gnu::always_inline]] void operator()(rank_t to, ticket by, const Answer& a) {
      send_(to, {by, a});
    }

   private:
    typename channel<ticketed_answer>::sender send_;
  };
  [[nodiscard]] answerer answer_from(worker_t k) { return answerer(*this, k); }

  /// Waits until everything that this rank has asked is answered and received. For standing
  /// requests; called on worker 0 outside jobs.
  void finish() {
    CAIRN_EXPECTS(kind_ == channel_kind::standing,
                  "the end of the epoch completes the requests of an epoch channel");
    world_.wait_until([this] { return settled(); });
  }

 private:
  struct run {
    rank_t from;
    std::size_t answers;
  };
  struct answers_taken_in {
    std::vector<ticketed_answer> answers;
    std::vector<run> runs;    // each of answers from one rank
    std::uint64_t epoch = 0;  // in which they came
    void clear() {
      answers.clear();
      runs.clear();
    }
  };
  struct queue {  // first in, first out; an empty std::deque takes 0.6 KiB
    std::vector<ticketed_question> questions;
    std::size_t sent = 0;  // number of questions sent, from the front
  };
  struct worker_state {
    std::optional<credits> credit;       // used by this worker only
    std::uint64_t abandoned_epochs = 0;  // up to which questions without answers are forgotten
    std::vector<queue> waiting;          // questions that wait for credit, by destination
    // Written by this worker only, `received` last.
    std::atomic<std::uint64_t> kept{0}, received{0};
    // Answers for this worker that other workers have taken in.
    task::spin_lock guard;
    answers_taken_in handed_over;
    std::atomic<bool> any{false};
    answers_taken_in scratch;
  };

  static task::per_worker<worker_state> states_of(world& w, const request_options& opt) {
    CAIRN_EXPECTS(w.handling_threads() <= 65'536, "a ticket has 16 bits for the worker");
    task::per_worker<worker_state> all(w.handling_threads());
    for (auto& k : all) {
      k.value.credit.emplace(w.size(), opt.max_unanswered);
      k.value.waiting.resize(static_cast<std::size_t>(w.size()));
    }
    return all;
  }

  template <class ReceiveFunction>
  static auto on_spans(ReceiveFunction receive) {
    if constexpr (std::invocable<ReceiveFunction&, worker_t, std::span<const ticketed_answer>>) {
      return receive;
    } else {
      return [receive = std::move(receive)](worker_t k,
                                            std::span<const ticketed_answer> batch) mutable {
        for (const auto& m : batch) receive(k, m.to.number(), m.answer);
      };
    }
  }

  template <class AnswerFunction>
  auto on_questions(AnswerFunction answer) {
    if constexpr (std::invocable<AnswerFunction&, worker_t, rank_t,
                                 std::span<const ticketed_question>>) {
      return answer;
    } else {
      return [this, answer = std::move(answer)](worker_t k, rank_t from,
                                                std::span<const ticketed_question> batch) mutable {
        auto send = answers_.from(k);
        for (const auto& q : batch) send(from, {q.by, answer(k, q.question)});
      };
    }
  }

  void hold(worker_t k, std::uint64_t n) {
    if (kind_ == channel_kind::epoch) am::hold(world_, k, n);
  }
  void release(worker_t k, std::uint64_t n) {
    if (kind_ == channel_kind::epoch) am::release(world_, k, n);
  }
  void charge(worker_t k, std::int64_t bytes) { world_.messages().charge(k, bytes); }
  [[nodiscard]] std::int64_t kept_bytes(worker_t k) {
    return static_cast<std::int64_t>(workers_[k].kept.load(std::memory_order_relaxed) *
                                     sizeof(ticketed_question));
  }

  static void add(std::atomic<std::uint64_t>& count, std::uint64_t n) noexcept {
    count.store(count.load(std::memory_order_relaxed) + n, std::memory_order_release);
  }

  // A question counts as sent before it stops counting as kept. Its answer counts as received after
  // all that its receiver asked is counted. So the counts are read in the opposite order.
  [[nodiscard]] bool settled() noexcept {
    std::uint64_t asked_so_far = 0, received = 0;
    for (auto& k : workers_) received += k.value.received.load(std::memory_order_acquire);
    for (auto& k : workers_) asked_so_far += k.value.kept.load(std::memory_order_acquire);
    for (worker_t k{0}; k < workers_.workers(); ++k) asked_so_far += questions_.count(k).sent();
    return asked_so_far == received;
  }

  // The questions of an abandoned epoch have no answers.
  [[nodiscard]] credits& credits_of(worker_t k) {
    auto& mine = workers_[k];
    const auto abandoned = world_.messages().abandoned_epochs();
    if (kind_ == channel_kind::epoch && mine.abandoned_epochs != abandoned) [[unlikely]] {
      mine.abandoned_epochs = abandoned;
      charge(k, -kept_bytes(k));
      mine.kept.store(0, std::memory_order_relaxed);
      for (auto& w : mine.waiting) w = {};
      mine.credit->reset();
    }
    return *mine.credit;
  }

  [[gnu::noinline]] void keep(worker_t k, rank_t to, const ticketed_question& m) {
    auto& mine = workers_[k];
    try {
      mine.waiting[static_cast<std::size_t>(to)].questions.push_back(m);
      static_cast<void>(mine.credit->take(k, to, 1));  // none is free: registers the wait
    } catch (...) {                                    // out of memory
      world_.poison(text_of_exception());
      throw;
    }
    hold(k, 1);
    charge(k, sizeof m);
    add(mine.kept, 1);
  }

  void send_waiting(worker_t k, rank_t to, std::uint32_t n) {
    auto& mine = workers_[k];
    auto& [waiting, sent] = mine.waiting[static_cast<std::size_t>(to)];
    {
      auto send = questions_.from(k);
      for (std::uint32_t i = 0; i < n; ++i) send(to, waiting[sent++]);
    }
    if (sent >= waiting.size() / 2) {  // amortised: each question moves at most once
      waiting.erase(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(sent));
      sent = 0;
    }
    add(mine.kept, -std::uint64_t{n});
    charge(k, -static_cast<std::int64_t>(n * sizeof(ticketed_question)));
    release(k, n);
  }

  // Worker k asked all questions of the batch.
  void receive(worker_t k, rank_t from, std::span<const ticketed_answer> batch) {
    if (ends_) [[unlikely]]
      return;
    auto& mine = workers_[k];
    mine.credit->give_back(from, static_cast<std::uint32_t>(batch.size()),
                           [&](worker_t, std::uint32_t n) { send_waiting(k, from, n); });
    receive_(k, batch);
    add(mine.received, batch.size());
  }

  void sort_out(worker_t k, rank_t from, std::span<const ticketed_answer> batch) {
    while (!batch.empty()) {
      const auto by = batch.front().to.worker();
      const auto end = std::ranges::find_if(
          batch, [by](const ticketed_answer& m) { return m.to.worker() != by; });
      const auto of_one = batch.first(static_cast<std::size_t>(end - batch.begin()));
      if (by == k) {
        receive(k, from, of_one);
      } else {
        hand_over(k, by, from, of_one);
      }
      batch = batch.subspan(of_one.size());
    }
  }

  void hand_over(worker_t k, worker_t to, rank_t from, std::span<const ticketed_answer> batch) {
    hold(k, batch.size());
    auto& other = workers_[to];
    const std::lock_guard held(other.guard);
    auto& all = other.handed_over;
    const auto epoch = world_.messages().epoch();
    if (kind_ == channel_kind::epoch && all.epoch != epoch) all.clear();  // of a cancelled epoch
    all.epoch = epoch;
    all.answers.insert(all.answers.end(), batch.begin(), batch.end());
    all.runs.push_back({from, batch.size()});
    other.any.store(true, std::memory_order_release);
  }

  bool poll(worker_t k) noexcept override { return take_in(k); }
  bool take_in(worker_t k) noexcept override {
    auto& mine = workers_[k];
    if (!mine.any.load(std::memory_order_acquire) || world_.poisoned()) return false;
    if (kind_ == channel_kind::epoch && !world_.messages().epoch_open()) return false;
    try {
      auto& all = mine.scratch;
      {
        const std::lock_guard held(mine.guard);
        std::swap(all, mine.handed_over);
        mine.any.store(false, std::memory_order_relaxed);
      }
      if (kind_ == channel_kind::epoch && all.epoch != world_.messages().epoch()) {
        all.clear();  // of a cancelled epoch
        return false;
      }
      std::size_t begin = 0;
      for (const auto& r : all.runs) {
        receive(k, r.from, std::span<const ticketed_answer>(all.answers).subspan(begin, r.answers));
        begin += r.answers;
      }
      release(k, all.answers.size());
      all.clear();
    } catch (...) {
      world_.poison(text_of_exception());
    }
    return true;
  }

  world& world_;
  const channel_kind kind_;
  bool ends_ = false;  // set while no other worker is in a handler
  std::function<void(worker_t, std::span<const ticketed_answer>)> receive_;
  task::per_worker<worker_state> workers_;
  channel<ticketed_answer> answers_;
  channel<ticketed_question> questions_;
};

}  // namespace cairn::am
