// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include <cairn/base/contract.hpp>
#include <cairn/base/random.hpp>
#include <cairn/core/cancellation.hpp>
#include <cairn/core/collectives.hpp>
#include <cairn/core/inbox.hpp>
#include <cairn/core/registry.hpp>

#include <support/schedules.hpp>

namespace cairn::cancellation_model {

using bytes = std::vector<std::byte>;

template <class T>
bytes bytes_of(const T& value) {
  const auto all = std::as_bytes(std::span(&value, 1));
  return {all.begin(), all.end()};
}
template <class T>
T read(std::span<const std::byte> from) {
  T value;
  std::memcpy(&value, from.data(), sizeof value);
  return value;
}

enum class fault {
  none,
  begins_after_its_announcement,
  forgets_later_packets_at_restart,
  takes_its_own_numbers,
  does_not_discard_by_number,
};

enum class ending {
  correct,
  some_ended_and_some_not,
  different_collectives_met,
  message_of_another_call,
  packet_refused,
  message_kept_for_ever,
  stuck,
};

/// Ranks that run calls of collectives, channels and epochs one after another, as a world does. The
/// seed decides calls, times and orders, and who is asked to cancel. State machines and inboxes are
/// those of the runtime. A rank that throws `cancelled` or has finished begins its next call.
template <class Cancellation>
class schedule {
 public:
  schedule(std::uint64_t seed, fault f) : random_(seed), fault_(f) {
    const auto size = static_cast<rank_t>(2 + random_.below(8));
    for (auto n = 1 + random_.below(2); n > 0; --n) {
      program_.emplace_back();
      for (auto m = 1 + random_.below(4); m > 0; --m) program_.back().push_back(any_step());
    }
    program_.push_back({step::collective});  // as launch: nobody leaves before all can
    asks_ = random_.below(4);
    asking_ = 1 + random_.below(200);
    looking_ = 1 + random_.below(6);
    for (rank_t r = 0; r < size; ++r) {
      ranks_.emplace_back(r, size, program_.size());
      static_cast<void>(ranks_.back().channels.add(receiver_, channel_kind::epoch));
    }
  }

  ending play() {
    const auto ended = [&] {
      return ending_ != ending::correct ||
             std::ranges::all_of(ranks_, [&](const rank& r) { return r.call == program_.size(); });
    };
    bool moved = true;
    try {
      moved = support::play_ranks(
          random_, static_cast<rank_t>(ranks_.size()), in_flight_, ended,
          [&](rank_t r) { return take_turn(ranks_[static_cast<std::size_t>(r)]); },
          [&](packet p) { arrive(std::move(p)); });
    } catch (const contract_violation&) {
      return ending::packet_refused;
    }
    if (ending_ != ending::correct) return ending_;
    if (!moved) return ending::stuck;
    for (const auto& r : ranks_) {
      if (r.ended_well != ranks_[0].ended_well) return ending::some_ended_and_some_not;
      if (r.messages.bytes() != 0) return ending::message_kept_for_ever;
    }
    return ending::correct;
  }

 private:
  enum class step { collective, channel, epoch };
  enum class kind { gather, cancel, message };
  /// Where in its calls a rank is.
  struct place {
    std::uint32_t generation = 0, call = 0, step = 0;
    friend bool operator==(const place&, const place&) = default;
  };
  /// What a rank brings to a collective.
  struct contribution {
    place where;
    std::uint64_t sent = 0, handled = 0;
  };
  struct packet {
    rank_t from, to;
    kind content;
    std::uint32_t generation;  // of a message: its channel
    std::uint64_t epoch;
    bytes payload;
  };
  struct nobody final : receiver {
    void deliver(worker_t, rank_t, std::span<std::byte>) override {}
    bool flush(worker_t, flush_scope) override { return false; }
    [[nodiscard]] const message_counter& count(worker_t) const noexcept override { return none; }
    void abandon() noexcept override {}
    message_counter none;
  };
  struct rank {
    rank(rank_t r, rank_t size, std::size_t calls)
        : self(r), gathering(r, size), messages(channels), ended_well(calls) {}
    rank_t self;
    Cancellation cancelling;
    collectives gathering;
    registry channels;
    inbox messages;
    std::vector<packet> kept;
    std::size_t call = 0, step = 0;
    bool gathers = false, restarts = false, epoch_open = false;
    std::uint64_t epoch = 0, unsent = 0, sent = 0, handled = 0;
    std::vector<std::uint32_t> live;
    std::vector<bool> ended_well;  // by call
  };

  step any_step() {
    return random_.below(4) == 0   ? step::channel
           : random_.below(2) == 0 ? step::collective
                                   : step::epoch;
  }
  bool chance(std::uint64_t one_in) { return random_.below(one_in) == 0; }
  place place_of(const rank& r) const {
    return {r.cancelling.generation(), static_cast<std::uint32_t>(r.call),
            static_cast<std::uint32_t>(r.step)};
  }

  // What control does ------------------------------------------------------------------------

  void send_gather(rank& r) {
    while (auto out = r.gathering.next_send()) {
      in_flight_.push_back(
          {r.self, out->to, kind::gather, r.cancelling.generation(), 0, std::move(out->packet)});
    }
  }
  void begin_gather(rank& r, std::span<const std::byte> mine) {
    r.cancelling.begin();
    r.gathers = true;
    r.gathering.begin(mine);
    send_gather(r);
  }
  void announce(rank& r) {
    const auto collective = r.cancelling.announcement();
    if (!collective) return;
    for (const auto& other : ranks_) {
      if (other.self == r.self) continue;
      in_flight_.push_back(
          {r.self, other.self, kind::cancel, r.cancelling.generation(), 0, bytes_of(*collective)});
    }
  }
  void take_in(rank& r, packet p) {
    switch (r.cancelling.age_of(p.generation)) {
      case cancellation::age::old:
        return;
      case cancellation::age::later:
        r.kept.push_back(std::move(p));
        return;
      case cancellation::age::current:
        break;
    }
    if (p.content == kind::cancel)
      return r.cancelling.receive_announcement(read<std::uint64_t>(p.payload));
    r.gathering.receive(p.from, p.payload);
    send_gather(r);
  }
  bool restart(rank& r) {
    announce(r);
    leave_epoch(r);
    r.messages.abandon_up_to(r.epoch);
    for (const auto channel : std::exchange(r.live, {})) r.channels.remove(channel);
    r.cancelling.restart();
    r.gathering = collectives(r.self, static_cast<rank_t>(ranks_.size()));
    r.restarts = true;
    begin_gather(r, bytes_of(used_numbers{r.epoch, r.channels.next()}));
    auto kept = std::exchange(r.kept, {});
    if (fault_ == fault::forgets_later_packets_at_restart) return true;
    for (auto& p : kept) take_in(r, std::move(p));
    return true;
  }
  void continue_after_restart(rank& r, const gathered_parts& parts) {
    const auto last = used_numbers::agreed(parts);
    r.restarts = false;
    if (fault_ != fault::takes_its_own_numbers) {
      r.epoch = last.epoch;
      r.channels.skip_to(static_cast<std::uint32_t>(last.channel));
    }
    if (fault_ != fault::does_not_discard_by_number) r.messages.abandon_up_to(r.epoch);
    next_call(r);
  }

  // What a body does -------------------------------------------------------------------------

  bool take_turn(rank& r) {
    if (r.call == program_.size()) return false;
    if (asks_ > 0 && chance(asking_)) {
      --asks_;
      r.cancelling.request();
    }
    if (r.gathers) return wait(r);
    if (r.cancelling.stopping() && chance(looking_)) return restart(r);  // at the end of a chunk
    const auto& steps = program_[r.call];
    if (r.epoch_open) return run_epoch(r);
    if (r.step == steps.size()) return gather(r);  // after it the call's channels may go
    switch (steps[r.step]) {
      case step::collective:
        return gather(r);
      case step::channel:
        r.live.push_back(r.channels.add(receiver_, channel_kind::epoch));
        r.messages.requeue_aside();
        ++r.step;
        return true;
      case step::epoch:
        r.epoch_open = true;
        r.messages.open_epoch(++r.epoch);
        r.unsent = random_.below(4);
        r.sent = r.handled = 0;
        return true;
    }
    return false;
  }

  bool run_epoch(rank& r) {
    if (handle(r)) return true;
    if (r.unsent == 0) return gather(r);
    --r.unsent;
    ++r.sent;
    in_flight_.push_back({r.self, static_cast<rank_t>(random_.below(ranks_.size())), kind::message,
                          any_channel(r), r.epoch, bytes_of(place_of(r))});
    return true;
  }

  // Number 0 lives as long as the world.
  std::uint32_t any_channel(const rank& r) {
    return r.live.empty() || chance(2) ? 0 : r.live[random_.below(r.live.size())];
  }

  bool handle(rank& r) {
    auto b = r.messages.take();
    if (!b) return false;
    if (read<place>({b->payload(), b->size()}) != place_of(r)) {
      ending_ = ending::message_of_another_call;
    }
    ++r.handled;
    return true;
  }

  bool gather(rank& r) {
    if (r.cancelling.stopping() && fault_ != fault::begins_after_its_announcement) {
      restart(r);
    } else {
      announce(r);
      begin_gather(r, bytes_of(contribution{place_of(r), r.sent, r.handled}));
    }
    return true;
  }

  bool wait(rank& r) {
    if (r.gathering.done()) {
      r.gathers = false;
      const auto parts = r.gathering.take();
      r.restarts ? continue_after_restart(r, parts) : continue_call(r, parts);
    } else if (r.cancelling.stopped()) {
      r.gathers = false;
      restart(r);
    } else if (r.cancelling.stopping() && chance(looking_)) {  // another worker looks
      const auto before = in_flight_.size();
      announce(r);
      return in_flight_.size() != before;
    } else {
      return r.epoch_open && handle(r);
    }
    return true;
  }

  void continue_call(rank& r, const gathered_parts& parts) {
    contribution all;
    for (const auto& part : parts) {
      const auto mine = read<contribution>(part);
      if (mine.where != place_of(r)) ending_ = ending::different_collectives_met;
      all.sent += mine.sent;
      all.handled += mine.handled;
    }
    if (r.epoch_open) {
      if (all.sent != all.handled) return;  // one more wave
      leave_epoch(r);
    }
    if (r.step++ < program_[r.call].size()) return;
    r.ended_well[r.call] = true;
    for (const auto channel : std::exchange(r.live, {})) r.channels.remove(channel);
    next_call(r);
  }

  void leave_epoch(rank& r) {
    r.epoch_open = false;
    r.messages.close_epoch();
    r.sent = r.handled = 0;
  }
  void next_call(rank& r) {
    ++r.call;
    r.step = 0;
  }

  void arrive(packet p) {
    auto& r = ranks_[static_cast<std::size_t>(p.to)];
    if (p.content != kind::message) return take_in(r, std::move(p));
    buffer b(p.payload.size());
    std::memcpy(b.payload(), p.payload.data(), p.payload.size());
    b.set_size(p.payload.size());
    b.header() = {.number = p.generation, .epoch = p.epoch & packet_header::max_epoch};
    r.messages.accept(std::move(b));
  }

  random64 random_;
  fault fault_;
  std::vector<std::vector<step>> program_;  // by call
  std::uint64_t asks_, asking_, looking_;   // requests to come; one in so many turns
  std::deque<rank> ranks_;
  std::vector<packet> in_flight_;
  nobody receiver_;
  ending ending_ = ending::correct;
};

}  // namespace cairn::cancellation_model
