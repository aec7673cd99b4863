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
  std::uint64_t tag;            ///< the sender's, the same for all pieces of a message
  std::uint64_t offset, total;  ///< bytes of the message before this piece, and of all of it
  std::span<const std::byte> bytes;
};

struct piece_options {
  channel_kind kind = channel_kind::epoch;
  std::uint32_t window = 64;  ///< pieces of one worker to one rank that may be under way
};

/// Carries messages of any length in pieces, without memory for a whole one on either side.
///
/// A worker sends the first pieces of what it has for a rank, and a further one whenever the
/// handler has taken one in. So the pieces wait in the sender's own bytes.
///
/// Handler     handler(worker, piece), once per piece; an empty message is one empty piece. On
///             several workers at once, in any order; may send, never blocks
/// Kind        in an epoch, whose end means that all pieces were handled; or standing: finish()
/// Messages    two per piece
/// Memory      workers * ranks * window * 2 KB at most, at the sender and at the receiver
/// Collective  constructor and destructor, like those of a request
class piece_channel {
 public:
  static constexpr std::size_t piece_bytes = 2016;  // with ticket and header 2 KB

  template <class Handler>
  piece_channel(world& w, Handler on_piece, const piece_options& opt = {})
      : world_(w),
        opt_(opt),
        outgoing_(nothing_outgoing(w)),
        pieces_(
            w,
            [this, on_piece = std::move(on_piece)](worker_t k, rank_t from,
                                                   std::span<const path::asked> batch) mutable {
              auto reply = pieces_.reply_from(k);
              for (const auto& [by, p] : batch) {
                const auto bytes = std::min<std::uint64_t>(p.total - p.offset, piece_bytes);
                on_piece(k, piece{from, p.tag, p.offset, p.total, {p.bytes, bytes}});
                reply(from, by, {});
              }
            },
            [this](worker_t k, std::uint64_t to, handled) {
              --outgoing_[k][to].under_way;
              send_some(k, static_cast<rank_t>(to));
            },
            {.kind = opt.kind, .unanswered = opt.window}) {}

  /// Worker w sends a message. Its bytes stay as they are until the epoch ends, or finish()
  /// returns. Inside one chunk, handler or body section, on that worker only.
  void send(worker_t w, rank_t to, std::span<const std::byte> message, std::uint64_t tag = 0) {
    if (opt_.kind == channel_kind::epoch) hold(world_, w);
    outgoing_[w][static_cast<std::size_t>(to)].messages.push_back({message, tag, 0});
    send_some(w, to);
  }

  /// Waits until all that this rank has sent is handled. For a standing one; worker 0 outside jobs.
  void finish() { pieces_.finish(); }

 private:
  struct packed_piece {
    std::uint64_t tag, offset, total;
    std::byte bytes[piece_bytes];
  };
  struct handled {};
  using path = request<packed_piece, handled>;
  static_assert(sizeof(path::asked) == 2048);

  struct unfinished {
    std::span<const std::byte> bytes;
    std::uint64_t tag;
    std::size_t sent;
  };
  struct destination {
    std::deque<unfinished> messages;
    std::uint32_t under_way = 0;
  };
  static task::per_worker<std::vector<destination>> nothing_outgoing(world& w) {
    task::per_worker<std::vector<destination>> all(w.workers());
    for (auto& k : all) k.value.resize(static_cast<std::size_t>(w.size()));
    return all;
  }

  void send_some(worker_t w, rank_t to) {
    auto& [messages, under_way] = outgoing_[w][static_cast<std::size_t>(to)];
    auto ask = pieces_.from(w);
    while (under_way < opt_.window && !messages.empty()) {
      auto& m = messages.front();
      packed_piece p{m.tag, m.sent, m.bytes.size(), {}};
      const auto next =
          m.bytes.subspan(m.sent).first(std::min(piece_bytes, m.bytes.size() - m.sent));
      std::ranges::copy(next, p.bytes);
      ask(to, p, static_cast<std::uint64_t>(to));
      ++under_way;
      m.sent += next.size();
      if (m.sent < m.bytes.size()) continue;
      messages.pop_front();
      if (opt_.kind == channel_kind::epoch) release(world_, w);
    }
  }

  world& world_;
  const piece_options opt_;
  task::per_worker<std::vector<destination>> outgoing_;
  path pieces_;
};

}  // namespace cairn::am
