// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include <cairn/am/epoch.hpp>
#include <cairn/am/request.hpp>
#include <cairn/core/world.hpp>
#include <cairn/task/per_worker.hpp>

namespace cairn::am {

/// A part of a long message.
struct piece {
  rank_t from;
  std::uint64_t tag;            ///< chosen by the sender, the same for all pieces of a message
  std::uint64_t offset, total;  ///< bytes of the message before this piece, and in total
  std::span<const std::byte> bytes;
};

struct piece_options {
  channel_kind kind = channel_kind::epoch;
  std::uint32_t max_unanswered = 64;  ///< pieces from one worker to one rank
};

/// Carries messages of any length in pieces. Neither side needs memory for a whole message.
///
/// A worker sends the first pieces of its messages for a rank, and one more whenever the handler
/// there has handled one. The remaining pieces stay in the sender's own bytes.
///
/// Handler     handler(worker, piece), once per piece; an empty message is one empty piece. Runs on
///             several workers at once, in any order; may send, never blocks
/// Kind        epoch: its end means that all pieces were handled; standing: see finish()
/// Messages    two per piece
/// Memory      workers * ranks * max_unanswered * 2 KiB at most, at the sender and at the receiver
/// Throws      contract_violation from send() for an epoch channel while no epoch is open, and from
///             finish() for an epoch channel. An exception of the handler poisons the world
/// Collective  constructor and destructor, like those of a request
/// Source      ours: a piece is a question of a request, and its answer says that it was handled
class piece_channel {
 public:
  static constexpr std::size_t piece_bytes = 2016;  // 2 KiB with ticket and header

  template <class Handler>
  piece_channel(world& w, Handler on_piece, const piece_options& opt = {})
      : world_(w),
        opt_(opt),
        outgoing_(nothing_outgoing(w)),
        pieces_(
            w,
            [this, on_piece = std::move(on_piece)](
                worker_t k, rank_t from, std::span<const path::ticketed_question> batch) mutable {
              auto answer = pieces_.answer_from(k);
              for (const auto& [by, p] : batch) {
                const auto bytes = std::min<std::uint64_t>(p.total - p.offset, piece_bytes);
                on_piece(k, piece{from, p.tag, p.offset, p.total, {p.bytes, bytes}});
                answer(from, by, {});
              }
            },
            [this](worker_t k, std::uint64_t to, handled) {
              --outgoing_[k].to[to].in_flight;
              send_some(k, static_cast<rank_t>(to));
            },
            {.kind = opt.kind, .max_unanswered = opt.max_unanswered}) {}

  /// Worker k sends a message. Its bytes must stay unchanged until the epoch ends or finish()
  /// returns. Use it within one chunk, handler or body section, on that worker only.
  void send(worker_t k, rank_t to, std::span<const std::byte> message, std::uint64_t tag = 0) {
    forget_abandoned(k);
    outgoing_[k].to[static_cast<std::size_t>(to)].messages.push_back({message, tag, 0});
    if (opt_.kind == channel_kind::epoch) hold(world_, k);
    send_some(k, to);
  }

  /// Waits until everything that this rank has sent is handled. For standing channels; called on
  /// worker 0 outside jobs.
  void finish() {
    try {
      pieces_.finish();
    } catch (const contract_violation&) {
      throw;
    } catch (...) {  // answers may still come, but the caller's bytes may be gone
      world_.pool().while_not_polling([&] {
        for (auto& k : outgoing_) {
          for (auto& d : k.value.to) d.messages.clear();
        }
      });
      throw;
    }
  }

 private:
  struct packed_piece {
    std::uint64_t tag, offset, total;
    std::byte bytes[piece_bytes];
  };
  struct handled {};
  using path = request<packed_piece, handled>;
  static_assert(sizeof(path::ticketed_question) == 2048);

  struct unfinished {
    std::span<const std::byte> bytes;
    std::uint64_t tag;
    std::size_t sent;
  };
  struct destination {
    std::deque<unfinished> messages;
    std::uint32_t in_flight = 0;
  };
  struct worker_state {
    std::vector<destination> to;         // by rank
    std::uint64_t abandoned_epochs = 0;  // up to which messages are forgotten
  };
  static task::per_worker<worker_state> nothing_outgoing(world& w) {
    task::per_worker<worker_state> all(w.handling_threads());
    for (auto& k : all) k.value.to.resize(static_cast<std::size_t>(w.size()));
    return all;
  }

  // What an abandoned epoch left behind.
  void forget_abandoned(worker_t k) {
    auto& mine = outgoing_[k];
    const auto abandoned = world_.messages().abandoned_epochs();
    if (opt_.kind != channel_kind::epoch || mine.abandoned_epochs == abandoned) return;
    mine.abandoned_epochs = abandoned;
    for (auto& d : mine.to) d = {};
  }

  void send_some(worker_t k, rank_t to) {
    auto& [messages, in_flight] = outgoing_[k].to[static_cast<std::size_t>(to)];
    auto ask = pieces_.from(k);
    while (in_flight < opt_.max_unanswered && !messages.empty()) {
      auto& m = messages.front();
      packed_piece p{m.tag, m.sent, m.bytes.size(), {}};
      const auto next =
          m.bytes.subspan(m.sent).first(std::min(piece_bytes, m.bytes.size() - m.sent));
      std::ranges::copy(next, p.bytes);
      ask(to, p, slot(static_cast<std::uint64_t>(to)));
      ++in_flight;
      m.sent += next.size();
      if (m.sent < m.bytes.size()) continue;
      messages.pop_front();
      if (opt_.kind == channel_kind::epoch) release(world_, k);
    }
  }

  world& world_;
  const piece_options opt_;
  task::per_worker<worker_state> outgoing_;
  path pieces_;
};

}  // namespace cairn::am
