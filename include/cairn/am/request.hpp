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
  std::size_t coalesce_bytes = 0;     ///< size of a buffer; 0: the world's choice
  std::uint32_t unanswered = 65'536;  ///< questions in flight from one worker to one rank, at most
};

/// The stage reply: questions to elements of any rank, and their answers.
///
///   am::request<std::uint64_t, double> get(
///       world, [&](worker_t, std::uint64_t i) { return table[i]; },
///       [&](worker_t, std::uint64_t slot, double x) { copies[slot] = x; });
///   auto ask = get.from(worker);
///   ask(owner_of(i), i, slot);
///
/// Questions and answers are both coalesced. receive() runs on the worker that asked, so a worker's
/// slots need no lock. A worker whose questions to a rank reach the bound keeps further ones, and
/// sends them as answers come back: asking never blocks.
///
/// Question, Answer   trivially copyable, aligned to at most 16 bytes
/// answer     Answer answer(worker, question), at the rank that is asked; runs on several workers
///            at once; does not block. Or void answer(worker, from, span of ticketed_question),
///            which gives each answer to reply_from(): at once, or later in the same epoch, which
///            it then holds open.
/// receive    void receive(worker, slot, answer), once per question, or void receive(worker, span
///            of replied); may ask again
/// Kind       epoch: its end means that all answers were received; or standing
/// Messages   two per question
/// Memory     per worker, for the questions that wait for credit; at the asked rank, for at most
///            `unanswered` questions per asking worker
/// The answer function of a standing one also runs on the threads beside the workers, whose numbers
/// are w.workers() and above.
///
/// Collective constructor and destructor, like those of a channel. A standing one is destroyed
///            after its last answer was received.
/// Source     [GMT14] section III: requests and replies are aggregated
template <class Question, class Answer>
class request final : private task::progress_source {
 public:
  struct ticketed_question {
    ticket by;
    [[no_unique_address]] Question question;
  };
  struct replied {
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
                 [this](worker_t k, rank_t from, std::span<const replied> batch) {
                   sort_out(k, from, batch);
                 },
                 {.kind = opt.kind,
                  .coalesce_bytes = opt.coalesce_bytes,
                  .name = "answers",
                  .sends = opt.kind == channel_kind::epoch}),
        questions_(w, on_questions(std::move(answer)),
                   {opt.kind, opt.coalesce_bytes, type_name<Question>()}) {
    world_.pool().add_source(*this);
  }
  ~request() {
    world_.pool().remove_source(*this);
    // Questions that a cancelled epoch left behind, or that a standing one did not wait for. They
    // are not sent any more: answers arrive until answers_ ends, but questions_ ends before.
    world_.pool().while_not_polling([this] {
      ends_ = true;
      for (worker_t w{0}; w < workers_.workers(); ++w) charge(w, -kept_bytes(w));
    });
  }
  request(const request&) = delete;
  request& operator=(const request&) = delete;

  /// A worker's end for questions: ask(rank, question, slot). Use it within one chunk, handler or
  /// body section, on that worker only.
  class asker {
   public:
    asker(request& r, worker_t w)
        : request_(r),
          credits_(*r.workers_[w].unanswered),
          send_(r.questions_.from(w)),
          worker_(w) {}

    [[gnu::always_inline]] void operator()(rank_t to, const Question& q, std::uint64_t slot) {
      const ticketed_question m{{worker_, slot}, q};
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
  [[nodiscard]] asker from(worker_t w) { return asker(*this, w); }

  /// A worker's end for answers that `answer` did not return: reply(rank, ticket, answer). The
  /// rules for an asker hold.
  class replier {
   public:
    replier(request& r, worker_t w) : send_(r.answers_.from(w)) {}
    [[gnu::always_inline]] void operator()(rank_t to, ticket by, const Answer& a) {
      send_(to, {by, a});
    }

   private:
    typename channel<replied>::sender send_;
  };
  [[nodiscard]] replier reply_from(worker_t w) { return replier(*this, w); }

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
    std::size_t replies;
  };
  struct replies_taken_in {
    std::vector<replied> replies;
    std::vector<run> runs;    // each of replies from one rank
    std::uint64_t epoch = 0;  // in which they came
    void clear() {
      replies.clear();
      runs.clear();
    }
  };
  struct queue {  // first in, first out; an empty std::deque takes 0.6 KB
    std::vector<ticketed_question> questions;
    std::size_t sent = 0;  // number of questions sent, from the front
  };
  struct worker_state {
    std::optional<credits> unanswered;  // used by this worker only
    std::vector<queue> waiting;         // questions that wait for credit, by destination
    // Written by this worker only, `received` last.
    std::atomic<std::uint64_t> kept{0}, received{0};
    // Answers for this worker that other workers have taken in.
    task::spin_lock guard;
    replies_taken_in handed_over;
    std::atomic<bool> any{false};
    replies_taken_in scratch;
  };

  static task::per_worker<worker_state> states_of(world& w, const request_options& opt) {
    CAIRN_EXPECTS(w.handling_threads() <= 65'536, "a ticket has 16 bits for the worker");
    task::per_worker<worker_state> all(w.handling_threads());
    for (auto& k : all) {
      k.value.unanswered.emplace(w.size(), opt.unanswered);
      k.value.waiting.resize(static_cast<std::size_t>(w.size()));
    }
    return all;
  }

  template <class ReceiveFunction>
  static auto on_spans(ReceiveFunction receive) {
    if constexpr (std::invocable<ReceiveFunction&, worker_t, std::span<const replied>>) {
      return receive;
    } else {
      return [receive = std::move(receive)](worker_t k, std::span<const replied> batch) mutable {
        for (const auto& m : batch) receive(k, m.to.slot(), m.answer);
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

  void hold(worker_t w, std::uint64_t n) {
    if (kind_ == channel_kind::epoch) am::hold(world_, w, n);
  }
  void release(worker_t w, std::uint64_t n) {
    if (kind_ == channel_kind::epoch) am::release(world_, w, n);
  }
  void charge(worker_t w, std::int64_t bytes) { world_.messages().charge(w, bytes); }
  [[nodiscard]] std::int64_t kept_bytes(worker_t w) {
    return static_cast<std::int64_t>(workers_[w].kept.load(std::memory_order_relaxed) *
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
    for (worker_t w{0}; w < workers_.workers(); ++w) asked_so_far += questions_.count(w).sent();
    return asked_so_far == received;
  }

  [[gnu::noinline]] void keep(worker_t w, rank_t to, const ticketed_question& m) {
    auto& mine = workers_[w];
    static_cast<void>(mine.unanswered->take(w, to, 1));  // none is free: registers the wait
    hold(w, 1);
    charge(w, sizeof m);
    add(mine.kept, 1);
    mine.waiting[static_cast<std::size_t>(to)].questions.push_back(m);
  }

  void send_waiting(worker_t w, rank_t to, std::uint32_t n) {
    auto& mine = workers_[w];
    auto& [waiting, sent] = mine.waiting[static_cast<std::size_t>(to)];
    {
      auto send = questions_.from(w);
      for (std::uint32_t i = 0; i < n; ++i) send(to, waiting[sent++]);
    }
    if (sent >= waiting.size() / 2) {  // amortised: each question moves at most once
      waiting.erase(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(sent));
      sent = 0;
    }
    add(mine.kept, -std::uint64_t{n});
    charge(w, -static_cast<std::int64_t>(n * sizeof(ticketed_question)));
    release(w, n);
  }

  // Worker w asked all questions of the batch.
  void receive(worker_t w, rank_t from, std::span<const replied> batch) {
    auto& mine = workers_[w];
    if (!ends_) [[likely]] {
      mine.unanswered->give_back(from, static_cast<std::uint32_t>(batch.size()),
                                 [&](worker_t, std::uint32_t n) { send_waiting(w, from, n); });
    }
    receive_(w, batch);
    add(mine.received, batch.size());
  }

  void sort_out(worker_t w, rank_t from, std::span<const replied> batch) {
    while (!batch.empty()) {
      const auto by = batch.front().to.worker();
      const auto end =
          std::ranges::find_if(batch, [by](const replied& m) { return m.to.worker() != by; });
      const auto of_one = batch.first(static_cast<std::size_t>(end - batch.begin()));
      if (by == w) {
        receive(w, from, of_one);
      } else {
        hand_over(w, by, from, of_one);
      }
      batch = batch.subspan(of_one.size());
    }
  }

  void hand_over(worker_t w, worker_t to, rank_t from, std::span<const replied> batch) {
    hold(w, batch.size());
    auto& other = workers_[to];
    const std::lock_guard held(other.guard);
    auto& all = other.handed_over;
    const auto epoch = world_.messages().epoch();
    if (kind_ == channel_kind::epoch && all.epoch != epoch) all.clear();  // of a cancelled epoch
    all.epoch = epoch;
    all.replies.insert(all.replies.end(), batch.begin(), batch.end());
    all.runs.push_back({from, batch.size()});
    other.any.store(true, std::memory_order_release);
  }

  bool poll(worker_t w) noexcept override { return take_in(w); }
  bool take_in(worker_t w) noexcept override {
    auto& mine = workers_[w];
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
        receive(w, r.from, std::span<const replied>(all.replies).subspan(begin, r.replies));
        begin += r.replies;
      }
      release(w, all.replies.size());
      all.clear();
    } catch (...) {
      world_.poison(text_of_exception());
    }
    return true;
  }

  world& world_;
  const channel_kind kind_;
  bool ends_ = false;  // set while no other worker is in a handler
  std::function<void(worker_t, std::span<const replied>)> receive_;
  task::per_worker<worker_state> workers_;
  channel<replied> answers_;
  channel<ticketed_question> questions_;
};

}  // namespace cairn::am
