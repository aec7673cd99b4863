// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <cairn/am/channel.hpp>
#include <cairn/am/credits.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/error.hpp>
#include <cairn/core/progress.hpp>
#include <cairn/core/world.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/task/pool.hpp>
#include <cairn/task/spin_lock.hpp>

namespace cairn::am {

/// Who asked, and which of its questions it was: travels with the question and comes back with the
/// answer.
class ticket {
 public:
  /// slot   the asker's own number for the question, below 2^48
  ticket(worker_t w, std::uint64_t slot) noexcept
      : bits_(slot | static_cast<std::uint64_t>(w) << slot_bits) {}
  [[nodiscard]] worker_t worker() const noexcept {
    return static_cast<worker_t>(bits_ >> slot_bits);
  }
  [[nodiscard]] std::uint64_t slot() const noexcept {
    return bits_ & ((std::uint64_t{1} << slot_bits) - 1);
  }

 private:
  static constexpr int slot_bits = 48;
  std::uint64_t bits_;
};
static_assert(sizeof(ticket) == 8);

struct request_options {
  channel_kind kind = channel_kind::epoch;
  std::size_t coalesce_bytes = 0;     ///< of a buffer; 0: what the world has chosen
  std::uint32_t unanswered = 65'536;  ///< questions of one worker to one rank that may be under way
};

/// The stage reply: questions to elements of any rank, whose answers come back.
///
///   am::request<std::uint64_t, double> get(
///       world, [&](worker_t, std::uint64_t i) { return table[i]; },
///       [&](worker_t, std::uint64_t slot, double x) { copies[slot] = x; });
///   auto ask = get.from(worker);
///   ask(owner_of(i), i, slot);
///
/// Both ways coalesce. The answer runs receive() on the worker that asked, so that a worker's
/// slots need no lock. A worker whose questions to a rank reach the bound keeps further ones, and
/// sends them as answers come back: asking never blocks.
///
/// Question, Answer   trivially copyable, aligned to at most 16 bytes
/// answer     Answer answer(worker, question), at the rank that is asked; on several workers at
///            once; does not block
/// receive    void receive(worker, slot, answer), once per question; may ask again
/// Kind       in an epoch, whose end means that all answers were received; or standing
/// Messages   two per question
/// Memory     per worker, of the questions that wait for credit; at the asked rank, of at most
///            `unanswered` questions per asking worker
/// Collective constructor and destructor, like those of a channel. A standing one is destroyed
///            after its last answer was received.
/// Source     [GMT14] section III: requests and replies are aggregated
template <class Question, class Answer>
class request final : private task::progress_source {
 public:
  template <class AnswerFunction, class ReceiveFunction>
  request(world& w, AnswerFunction answer, ReceiveFunction receive, const request_options& opt = {})
      : world_(w),
        kind_(opt.kind),
        receive_(
            [receive = std::move(receive)](worker_t k, std::span<const replied> batch) mutable {
              for (const auto& m : batch) receive(k, m.to.slot(), m.answer);
            }),
        workers_(w.workers()),
        answers_(w,
                 [this](worker_t k, rank_t from, std::span<const replied> batch) {
                   take_in(k, from, batch);
                 },
                 {opt.kind, opt.coalesce_bytes}),
        questions_(w,
                   [this, answer = std::move(answer)](worker_t k, rank_t from,
                                                      std::span<const asked> batch) mutable {
                     auto send = answers_.from(k);
                     for (const auto& q : batch) send(from, {q.by, answer(k, q.question)});
                   },
                   {opt.kind, opt.coalesce_bytes}) {
    CAIRN_EXPECTS(w.workers() <= 65'536, "a ticket names one of 65,536 workers");
    for (auto& k : workers_) {
      k.value.unanswered.emplace(w.size(), opt.unanswered);
      k.value.waiting.resize(static_cast<std::size_t>(w.size()));
    }
    world_.pool().add_source(*this);
  }
  ~request() { world_.pool().remove_source(*this); }
  request(const request&) = delete;
  request& operator=(const request&) = delete;

  /// A worker's end: ask(rank, question, slot). Lives inside one chunk, handler or body section
  /// and on that worker only.
  class asker {
   public:
    asker(request& r, worker_t w)
        : request_(r), mine_(r.workers_[w]), send_(r.questions_, w), worker_(w) {}

    void operator()(rank_t to, const Question& q, std::uint64_t slot) {
      const asked m{{worker_, slot}, q};
      if (mine_.unanswered->take(worker_, to, 1) == 1) [[likely]] {
        send_(to, m);
      } else {
        request_.keep(worker_, to, m);
      }
    }

   private:
    request& request_;
    typename request::worker_state& mine_;
    typename channel<typename request::asked>::sender send_;
    worker_t worker_;
  };
  [[nodiscard]] asker from(worker_t w) { return asker(*this, w); }

 private:
  struct asked {
    ticket by;
    [[no_unique_address]] Question question;
  };
  struct replied {
    ticket to;
    [[no_unique_address]] Answer answer;
  };
  struct arrived {
    rank_t from;
    replied reply;
  };
  struct worker_state {
    std::optional<credits> unanswered;       // a machine for this worker alone
    std::vector<std::deque<asked>> waiting;  // for credit, by destination
    // Answers that other workers have taken in for this one.
    task::spin_lock guard;
    std::vector<arrived> handed_over;
    std::atomic<bool> any{false};
    std::vector<arrived> scratch;
  };

  void hold(worker_t w, std::uint64_t n) {
    if (kind_ == channel_kind::epoch) world_.messages().hold(w, n);
  }
  void release(worker_t w, std::uint64_t n) {
    if (kind_ == channel_kind::epoch) world_.messages().release(w, n);
  }

  [[gnu::noinline]] void keep(worker_t w, rank_t to, const asked& m) {
    hold(w, 1);
    world_.messages().charge(w, sizeof m);
    workers_[w].waiting[static_cast<std::size_t>(to)].push_back(m);
  }

  void send_waiting(worker_t w, rank_t to, std::uint32_t n) {
    auto& waiting = workers_[w].waiting[static_cast<std::size_t>(to)];
    {
      auto send = questions_.from(w);
      for (std::uint32_t i = 0; i < n; ++i, waiting.pop_front()) send(to, waiting.front());
    }
    world_.messages().charge(w, -static_cast<std::int64_t>(n * sizeof(asked)));
    release(w, n);
  }

  // Worker w asked all of them.
  void receive(worker_t w, rank_t from, std::span<const replied> batch) {
    workers_[w].unanswered->give_back(from, static_cast<std::uint32_t>(batch.size()),
                                      [&](worker_t, std::uint32_t n) { send_waiting(w, from, n); });
    receive_(w, batch);
  }

  void take_in(worker_t w, rank_t from, std::span<const replied> batch) {
    while (!batch.empty()) {
      const auto by = batch.front().to.worker();
      const auto end =
          std::ranges::find_if(batch, [by](const replied& m) { return m.to.worker() != by; });
      const auto run = batch.first(static_cast<std::size_t>(end - batch.begin()));
      if (by == w) {
        receive(w, from, run);
      } else {
        hand_over(w, by, from, run);
      }
      batch = batch.subspan(run.size());
    }
  }

  void hand_over(worker_t w, worker_t to, rank_t from, std::span<const replied> run) {
    hold(w, run.size());
    auto& other = workers_[to];
    const std::lock_guard held(other.guard);
    for (const auto& m : run) other.handed_over.push_back({from, m});
    other.any.store(true, std::memory_order_release);
  }

  bool progress(worker_t w) noexcept override {
    auto& mine = workers_[w];
    if (!mine.any.load(std::memory_order_acquire) || world_.poisoned()) return false;
    if (kind_ == channel_kind::epoch && !world_.messages().epoch_open()) return false;
    try {
      {
        const std::lock_guard held(mine.guard);
        mine.scratch.swap(mine.handed_over);
        mine.any.store(false, std::memory_order_relaxed);
      }
      for (const auto& m : mine.scratch) receive(w, m.from, {&m.reply, 1});
      release(w, mine.scratch.size());
      mine.scratch.clear();
    } catch (...) {
      world_.poison(text_of_exception());
    }
    return true;
  }

  world& world_;
  const channel_kind kind_;
  std::function<void(worker_t, std::span<const replied>)> receive_;
  task::per_worker<worker_state> workers_;
  channel<replied> answers_;
  channel<asked> questions_;
};

}  // namespace cairn::am
