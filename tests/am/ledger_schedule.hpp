// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <cairn/am/ledger.hpp>
#include <cairn/base/random.hpp>
#include <cairn/base/types.hpp>

#include <support/schedules.hpp>

namespace cairn::am::ledger_model {

inline constexpr std::uint64_t waves_too_many = 6;  // after everything has been handled

enum class fault {
  none,
  counts_sent_at_flush,
  counts_merged_at_the_sender,
  does_not_count_merged_at_a_hop,
  counts_forwarded_as_handled,
  counts_handled_before_its_sends,
  releases_before_its_sends,
  does_not_hold,
  forgets_parked_work,
  forgets_unfinished_groups,
  begins_a_wave_before_the_last_has_ended,
  does_not_count_leading_messages,
  sends_from_silent_handlers,
};

/// early_noticed   an epoch ended early, but a rank has sent since it joined the last wave
enum class ending { all_handled, early, early_noticed, never };

/// A model of ranks with workers, reduction tables, blocks and buffers, whose every step the seed
/// decides: one to three epochs with counts that go on, buffers that arrive late, in any order, or
/// before their epoch, and waves that each rank joins when it likes, reading one counter at a time.
///
/// A message has a destination, perhaps some hops before it, and a size: its handler sends up to
/// two smaller ones if the message leads, else none. The seed decides how many lead. A worker that
/// takes one from a buffer forwards it, handles it, groups it with others, parks it, or puts it in
/// a queue, which holds the epoch until the worker that takes it out has sent what follows.
template <class Detector>
class schedule {
 public:
  schedule(std::uint64_t seed, fault f) : random_(seed), fault_(f) {
    // A rank that has run ahead in the waves of one epoch cannot count for the next.
    num_epochs_ = f == fault::begins_a_wave_before_the_last_has_ended ? 1 : 1 + below(3);
    handled_of_all_first_ = below(2) == 0;
    for (auto* patience : {&flushing_, &grouping_, &parking_, &queuing_, &draining_}) {
      *patience = 1 + below(4);
    }
    for (auto* haste : {&handlers_, &counters_}) *haste = std::size_t{1} << below(6);
    reducing_ = below(3);
    hopping_ = below(3);
    leading_ = below(4);
    ranks_.resize(1 + below(3));
    late_ = below(2 * ranks_.size());
    const auto num_workers = 1 + below(2);
    for (auto& r : ranks_) {
      r.workers.resize(num_workers);
      for (auto& w : r.workers) w.blocks.resize(ranks_.size());
    }
  }

  ending play() {
    const auto ended = [&] {
      return early_ || idle_waves_ > waves_too_many ||
             epochs_closed_ == num_epochs_ * ranks_.size();
    };
    const bool moved = support::play_ranks(
        random_, static_cast<rank_t>(ranks_.size()), in_flight_, ended,
        [&](rank_t r) { return take_turn(ranks_[static_cast<std::size_t>(r)]); },
        [&](buffer b) { arrive(std::move(b)); });
    if (early_) return noticed_ ? ending::early_noticed : ending::early;
    return moved && idle_waves_ <= waves_too_many ? ending::all_handled : ending::never;
  }

 private:
  struct message {
    std::size_t to;
    int size, hops;
    bool leads;
  };
  using messages = std::vector<message>;
  struct worker {
    message_counts counts;
    messages table;                // at most one message per destination
    std::vector<messages> blocks;  // by next hop
    messages taken, group, parked;
    // The handler that is running: what it will send, and what it handles or releases.
    messages to_send;
    std::uint64_t running = 0, to_count = 0;
  };
  struct buffer {
    std::size_t epoch;
    rank_t to;
    messages items;
  };
  struct rank {
    std::vector<worker> workers;
    std::size_t epoch = 0;
    bool open = false;
    std::uint64_t body_sends = 0;
    std::vector<buffer> inbox, early;
    messages queue;  // of all workers; held
    Detector detector;
    std::size_t waves_joined = 0, waves_learned = 0, counters_read = 0;
    message_counts reading;
    std::uint64_t sent_in_wave = 0;    // the last that it joined
    std::uint64_t leading_before = 0;  // the open epoch
  };
  struct global_wave {
    message_counts sum;
    std::size_t joined = 0;
  };

  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_.below(n)); }
  bool chance(std::size_t one_in) { return below(one_in) == 0; }
  std::size_t index(const rank& r) const { return static_cast<std::size_t>(&r - ranks_.data()); }
  std::uint64_t& unhandled(const rank& r) { return unhandled_[r.epoch]; }

  /// Lets one actor act up to `haste` times, as long as it has something to do.
  bool repeat(std::size_t haste, auto&& act) {
    bool acted = false;
    for (auto n = 1 + below(haste); n > 0 && act(); --n) acted = true;
    return acted;
  }

  bool take_turn(rank& r) {
    auto& w = r.workers[below(r.workers.size())];
    switch (below(4)) {
      case 0:
      case 1:
        return repeat(handlers_, [&] { return work(r, w); });
      case 2:
        // The late one is seldom in a wave.
        return (index(r) == late_ && !chance(8)) || repeat(counters_, [&] { return wave(r); });
      default:
        return body(r);
    }
  }

  bool body(rank& r) {
    if (!r.open) {
      if (r.epoch == num_epochs_) return false;
      ++r.epoch;
      r.open = true;
      r.leading_before = counts_of(r).leading;
      r.body_sends = below(3);
      r.inbox = std::exchange(r.early, {});
    } else if (r.body_sends > 0 && r.workers[0].running == 0) {
      --r.body_sends;
      send(r, r.workers[0], static_cast<int>(1 + below(4)));
    } else {
      return false;
    }
    return true;
  }

  bool work(rank& r, worker& w) {
    if (!r.open) return false;
    if (w.running > 0) {
      go_on(r, w);
    } else if (!w.table.empty() && chance(draining_)) {
      append(w, support::draw(random_, w.table));
    } else if (const auto to = below(ranks_.size()); !w.blocks[to].empty() && chance(flushing_)) {
      flush(r, w, to);
    } else if (!w.group.empty() && chance(grouping_)) {
      handle(w, std::exchange(w.group, {}), fault_ == fault::forgets_unfinished_groups);
    } else if (!w.parked.empty() && chance(parking_)) {
      handle(w, {support::draw(random_, w.parked)}, fault_ == fault::forgets_parked_work);
    } else if (!r.queue.empty() && chance(queuing_)) {
      const bool released = fault_ == fault::releases_before_its_sends;
      if (released) ++w.counts.handled;
      handle(w, {support::draw(random_, r.queue)}, released || fault_ == fault::does_not_hold);
    } else {
      if (w.taken.empty() && !r.inbox.empty()) w.taken = support::draw(random_, r.inbox).items;
      if (w.taken.empty()) return false;
      take_in(r, w, support::draw(random_, w.taken));
    }
    return true;
  }

  void take_in(rank& r, worker& w, const message& m) {
    if (m.to != index(r)) return forward(r, w, m);
    const auto put_aside = [&](messages& pile, fault f) {
      pile.push_back(m);
      if (fault_ == f) ++w.counts.handled;
    };
    switch (below(8)) {
      case 0:
        ++w.counts.handled;
        --unhandled(r);
        break;
      case 1:
        put_aside(w.parked, fault::forgets_parked_work);
        break;
      case 2:
        put_aside(w.group, fault::forgets_unfinished_groups);
        break;
      case 3:  // its handler's only act is to hold the epoch by an entry of the queue
        if (!m.leads) return handle(w, {m}, false);
        r.queue.push_back(m);
        if (fault_ != fault::does_not_hold) count_sent(w, true);
        ++w.counts.handled;
        break;
      default:
        handle(w, {m}, false);
    }
  }

  void handle(worker& w, const messages& group, bool already_counted) {
    w.running = group.size();
    w.to_count = already_counted ? 0 : group.size();
    for (const auto& m : group) {
      if (!m.leads && fault_ != fault::sends_from_silent_handlers) continue;
      for (auto n = m.size > 1 ? (1 + below(5)) / 2 : 0; n > 0; --n) {
        w.to_send.push_back({0, m.size - 1, 0, true});
      }
    }
    if (fault_ == fault::counts_handled_before_its_sends) {
      w.counts.handled += std::exchange(w.to_count, 0);
    }
  }

  void go_on(rank& r, worker& w) {
    if (!w.to_send.empty()) return send(r, w, support::draw(random_, w.to_send).size);
    unhandled(r) -= std::exchange(w.running, 0);
    w.counts.handled += w.to_count;
  }

  /// Whether a message that the table takes has been merged into one that was there.
  bool reduce(worker& w, const message& m) {
    const auto same = std::ranges::find_if(
        w.table, [&](const message& kept) { return kept.to == m.to && kept.leads == m.leads; });
    if (same == w.table.end()) {
      w.table.push_back(m);
      return false;
    }
    same->size = std::max(same->size, m.size);
    return true;
  }
  bool reduces() { return reducing_ > 0 && chance(reducing_); }

  void count_sent(worker& w, bool leads) {
    ++w.counts.sent;
    if (leads && fault_ != fault::does_not_count_leading_messages) ++w.counts.leading;
  }

  // As the table in reduce.hpp says.
  void send(rank& r, worker& w, int size) {
    const bool leads = leading_ > 0 && chance(leading_);
    const message m{below(ranks_.size()), size, static_cast<int>(below(3)), leads};
    const bool by_table = reduces();
    const bool merged = by_table && reduce(w, m);
    if (!merged) {
      ++unhandled(r);
      if (fault_ != fault::counts_sent_at_flush) count_sent(w, leads);
    } else if (fault_ == fault::counts_merged_at_the_sender) {
      count_sent(w, leads);
    }
    if (!by_table) append(w, m);
  }

  void forward(rank& r, worker& w, const message& m) {
    if (fault_ == fault::counts_forwarded_as_handled) ++w.counts.handled;
    if (!reduces()) return append(w, m);
    if (!reduce(w, m)) return;
    --unhandled(r);
    if (fault_ != fault::does_not_count_merged_at_a_hop) ++w.counts.handled;
  }

  void append(worker& w, message m) {
    const bool hops = m.hops > 0 && hopping_ > 0 && chance(hopping_);
    --m.hops;
    w.blocks[hops ? below(ranks_.size()) : m.to].push_back(m);
  }

  void flush(rank& r, worker& w, std::size_t to) {
    buffer b{r.epoch, static_cast<rank_t>(to), std::exchange(w.blocks[to], {})};
    if (fault_ == fault::counts_sent_at_flush) {
      for (const auto& m : b.items) count_sent(w, m.leads);
    }
    (to == index(r) ? r.inbox : in_flight_).push_back(std::move(b));
  }

  void arrive(buffer b) {
    auto& r = ranks_[static_cast<std::size_t>(b.to)];
    (r.open && r.epoch == b.epoch ? r.inbox : r.early).push_back(std::move(b));
  }

  bool wave(rank& r) {
    if (!r.open || r.body_sends > 0) return false;
    const std::size_t ahead = fault_ == fault::begins_a_wave_before_the_last_has_ended ? 1 : 0;
    if (r.waves_learned < r.waves_joined && waves_[r.waves_learned].joined == ranks_.size()) {
      learn(r);
    } else if (r.counters_read > 0 || r.waves_joined <= r.waves_learned + ahead) {
      read_one(r);
    } else {
      return false;
    }
    return true;
  }

  void read_one(rank& r) {
    const auto n = r.workers.size();
    const auto i = r.counters_read++;
    if (handled_of_all_first_ ? i < n : i % 2 == 0) {
      r.reading.handled += r.workers[handled_of_all_first_ ? i : i / 2].counts.handled;
    } else {
      const auto& counts = r.workers[handled_of_all_first_ ? i - n : i / 2].counts;
      r.reading.sent += counts.sent;
      r.reading.leading += counts.leading;
    }
    if (r.counters_read < 2 * n) return;
    r.counters_read = 0;
    if (waves_.size() == r.waves_joined) {
      waves_.emplace_back();
      const bool idle = unhandled(r) == 0 && std::ranges::all_of(ranks_, [&](const rank& other) {
                          return other.epoch == r.epoch && other.body_sends == 0;
                        });
      idle_waves_ = idle ? idle_waves_ + 1 : 0;
    }
    auto& wave = waves_[r.waves_joined++];
    ++wave.joined;
    const auto mine = std::exchange(r.reading, {});
    wave.sum.sent += mine.sent;
    wave.sum.handled += mine.handled;
    wave.sum.leading += mine.leading - r.leading_before;
    r.sent_in_wave = mine.sent;
  }

  static message_counts counts_of(const rank& r) {
    message_counts all;
    for (const auto& w : r.workers) {
      all.sent += w.counts.sent;
      all.leading += w.counts.leading;
    }
    return all;
  }

  void learn(rank& r) {
    if (!r.detector.finished_after(waves_[r.waves_learned++].sum)) return;
    if (unhandled(r) != 0) {
      early_ = true;
      noticed_ = std::ranges::any_of(
          ranks_, [](const rank& other) { return counts_of(other).sent != other.sent_in_wave; });
    }
    r.open = false;
    ++epochs_closed_;
    idle_waves_ = 0;
  }

  random64 random_;
  fault fault_;
  std::size_t num_epochs_;
  bool handled_of_all_first_;
  std::size_t flushing_, grouping_, parking_, queuing_, draining_;  // in one of so many chances
  std::size_t reducing_, hopping_, leading_;                        // the same; 0: never
  std::size_t handlers_, counters_;                                 // actions in one turn, at most
  std::size_t late_;  // the rank that is slow to join waves, if there is one
  std::vector<rank> ranks_;
  std::vector<buffer> in_flight_;
  std::vector<global_wave> waves_;
  std::array<std::uint64_t, 4> unhandled_{};  // by epoch: the truth
  std::uint64_t idle_waves_ = 0;              // since all has been handled
  std::size_t epochs_closed_ = 0;             // by any rank
  bool early_ = false, noticed_ = false;
};

}  // namespace cairn::am::ledger_model
