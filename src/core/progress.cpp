// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include <cairn/base/contract.hpp>
#include <cairn/base/error.hpp>
#include <cairn/core/progress.hpp>

namespace cairn {
namespace {

// With send_early(), looks at all part-filled buffers take at most a tenth of the time.
constexpr std::uint64_t scan_interval = 10;

constexpr std::size_t min_payload = 16;
constexpr std::size_t payload_of(std::size_t packet) noexcept {
  return std::max(packet - sizeof(packet_header), min_payload);
}

// A block for each rank on each thread, of all channels together, takes half of the bound on a
// rank's messages.
std::size_t block_share(std::size_t bound, rank_t ranks, int threads) {
  constexpr std::size_t smallest = 256;
  const auto blocks = static_cast<std::size_t>(ranks) * static_cast<std::size_t>(threads);
  return std::max(bound / 2 / blocks, smallest);
}

std::size_t chosen_coalesce_bytes(const net::transport& net, const world_options& options,
                                  std::size_t share) {
  if (options.coalesce_bytes == 0) return std::min(payload_of(net.best_packet()), share);
  return std::max(options.coalesce_bytes, min_payload);
}

// Whether the communication server joins blocks in buffers.
bool joins_blocks(const world_options& options) {
  return options.progress == progress_style::specialised &&
         options.specialised.command_block_bytes != 0;
}

// The size of the blocks that threads fill.
std::size_t chosen_block_bytes(const net::transport& net, const world_options& options,
                               std::size_t share) {
  if (!joins_blocks(options)) return chosen_coalesce_bytes(net, options, share);
  return std::max(options.specialised.command_block_bytes, min_payload);
}

}  // namespace

progress_engine::progress_engine(net::transport& net, task::pool& pool, hw::clock& clock,
                                 obs::counters& counters, obs::trace& trace,
                                 const world_options& options)
    : net_(net),
      pool_(pool),
      clock_(clock),
      counters_(counters),
      trace_(trace),
      rank_(net.self()),
      size_(net.size()),
      style_(options.progress),
      threads_(pool.workers() + threads_beside_workers(options, net.size())),
      sender_(style_ == progress_style::specialised && size_ > 1 ? threads_ - 1 : any_worker),
      memory_bound_(options.pending_bytes),
      blocks_requested_(options.coalesce_bytes != 0 || joins_blocks(options)),
      block_share_(block_share(memory_bound_, size_, threads_ - (sender_ != any_worker ? 1 : 0))),
      age_ns_(options.coalesce_age_ns),
      prefetching_(options.prefetching),
      fragments_(net.max_packet()),
      outbox_(net, fragments_, counters, trace, sender_),
      inbox_(channels_, threads_),
      buffers_(threads_, chosen_block_bytes(net, options, block_share_)),
      control_(net, outbox_, network_lock_, pool, counters),
      workers_(threads_),
      holds_(threads_) {
  if (sender_ != any_worker) {
    const auto bytes =
        std::min(chosen_coalesce_bytes(net, options, block_share(memory_bound_, size_, 1)),
                 payload_of(net.max_packet()));
    server_ = std::make_unique<communication_server>(
        threads_, size_,
        communication_server::options{.packet_bytes = bytes,
                                      .queue_age_ns = options.specialised.queue_age_ns,
                                      .channel_blocks = options.specialised.channel_blocks});
  }
  pool_.add_source(*this);
  const auto beside = threads_ - pool.workers();
  if (beside == 0) return;
  try {
    pool_.start_servers(beside, [this](worker_t k) { return serve(k); });
  } catch (...) {
    pool_.remove_source(*this);
    throw;
  }
}

progress_engine::~progress_engine() {
  pool_.stop_servers();
  tasks_.reset();
  leave_epoch();
  pool_.remove_source(*this);
}

// A failing transport, or a packet that no rank of this world can have sent, fails the world,
// because an exception would reach only one of the callers.
template <class F>
bool progress_engine::with_transport(F&& f) {
  if (transport_failed_.load(std::memory_order_relaxed)) return false;
  try {
    return f();
  } catch (...) {
    transport_failed_.store(true, std::memory_order_relaxed);
    control_.poison(rank_, text_of_exception());
    if (server_) {  // it calls the transport no more, and the poison waits for it
      const std::lock_guard held(network_lock_);
      outbox_.try_to_drain(worker_t{sender_});
    }
    return true;
  }
}

std::size_t progress_engine::best_bytes(rank_t to) const noexcept {
  return suitable_bytes(to, std::min(payload_of(net_.best_packet_to(to)), block_share_));
}

std::size_t progress_engine::suitable_bytes(rank_t to, std::size_t wanted) const noexcept {
  return payload_of(
      net_.steps_to(to).choose(wanted + sizeof(packet_header), net_.best_packet_to(to)));
}

// Packets to this rank go through the inbox, so that their handlers do not run inside the send.
void progress_engine::post(worker_t k, rank_t to, std::uint32_t number, channel_kind kind,
                           std::size_t messages, buffer&& b) {
  b.header() = {.number = number,
                .epoch = kind == channel_kind::epoch ? epoch() & packet_header::max_epoch : 0};
  if (to == rank_) {
    b.from = rank_;
    charge(k, -static_cast<std::int64_t>(b.capacity()));
    inbox_.accept(std::move(b));
    return;
  }
  charge(k, -static_cast<std::int64_t>(b.capacity()));
  if (server_) {
    for (auto& sent : server_->hand_over(k, to, messages, std::move(b))) {
      buffers_.give_back(k, std::move(sent));
    }
  } else {
    with_transport([&] {
      const std::lock_guard held(network_lock_);
      outbox_.send(k, to, b.packet(), messages);
      return true;
    });
    buffers_.give_back(k, std::move(b));
  }
  pool_.switch_point();
}

// Progress -----------------------------------------------------------------------------------

bool progress_engine::poll_transport(worker_t k) {
  if (size_ == 1 || (sender_ != any_worker && k != sender_)) return false;
  pool_.switch_point();
  auto& polls = workers_[k].polls;
  polls.store(polls.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  const bool receiving = receives();
  if (!receiving && !server_) return false;
  return with_transport([&] {
    const std::unique_lock held(network_lock_, std::try_to_lock);
    if (!held) return false;
    outbox_.drain(k);
    std::size_t packets = 0;
    if (receiving) {
      packets = net_.poll(
          [&](rank_t from, std::span<const std::byte> packet) { receive_packet(k, from, packet); });
    }
    const bool sent =
        server_ && send_for_others(k);  // last, because it checks whether all packets were sent
    return sent || packets != 0;
  });
}

void progress_engine::describe(obs::trace_span& span, const packet_header& header, rank_t from,
                               std::size_t bytes) {
  span->amount = bytes;
  span->peer = from;
  span->sequence = header.sequence;
  if (header.kind == packet_kind::channel) {
    span->number = header.number;
  } else {
    span->set_text(name(header.kind));
  }
}

void progress_engine::receive_packet(worker_t k, rank_t from, std::span<const std::byte> packet) {
  obs::trace_span received(trace_, k, obs::trace_kind::receive);
  counters_.add(k, obs::counter::buffers_received);
  counters_.add(k, obs::counter::bytes_received, packet.size());
  packet_header header;
  CAIRN_EXPECTS(packet.size() >= sizeof header, "a truncated packet");
  CAIRN_EXPECTS(packet[offsetof(packet_header, fragment)] <= std::byte{1}, "a corrupt packet");
  std::memcpy(&header, packet.data(), sizeof header);
  auto payload = packet.subspan(sizeof header);
  buffer b;
  if (header.fragment) {
    auto whole = fragments_.join(from, packet);
    if (!whole) return received.drop();
    counters_.add(k, obs::counter::fragments);
    b = std::move(*whole);
    payload = {b.payload(), b.size()};
  }
  if (received) [[unlikely]]
    describe(received, header, from, sizeof header + payload.size());
  switch (header.kind) {
    case packet_kind::channel:
      return b ? inbox_.accept(std::move(b)) : accept(k, from, header, payload);
    case packet_kind::bundle:
      return communication_server::take_apart(payload, [&](packet_header of_block, auto block) {
        of_block.sequence = header.sequence;
        accept(k, from, of_block, block);
      });
    default:
      return control_.handle_packet(k, header, from, payload);
  }
}

void progress_engine::accept(worker_t k, rank_t from, const packet_header& header,
                             std::span<const std::byte> payload) {
  auto b = buffers_.take(k, std::max(payload.size(), buffers_.usual_bytes()));
  if (!payload.empty()) std::memcpy(b.payload(), payload.data(), payload.size());
  b.set_size(payload.size());
  b.header() = header;
  b.from = from;
  inbox_.accept(std::move(b));
}

void progress_engine::deliver(worker_t k, buffer&& b) {
  auto* const to = channels_.find(b.header().number);
  if (to == nullptr || control_.poisoned()) return buffers_.give_back(k, std::move(b));
  obs::trace_span handled(trace_, k, obs::trace_kind::handler);
  if (handled) [[unlikely]]
    describe(handled, b.header(), b.from, b.size());
  workers_[k].in_handler.store(true, std::memory_order_relaxed);
  try {
    to->deliver(k, b.from, {b.payload(), b.size()});
  } catch (...) {
    control_.poison(rank_, text_of_exception());
  }
  workers_[k].in_handler.store(false, std::memory_order_relaxed);
  handled.end();
  count_step(k);
  buffers_.give_back(k, std::move(b));
  pool_.switch_point();
}

bool progress_engine::run_one(worker_t k) {
  auto b = server_ ? inbox_.take_of_epoch(k) : inbox_.take(k);
  if (b) deliver(k, std::move(*b));
  return b.has_value();
}

bool progress_engine::flush(worker_t k, flush_scope scope) {
  bool shipped = false;
  for (const auto& channel : channels_.live()) {
    if (channel.kind == channel_kind::epoch && !epoch_open()) continue;
    shipped |= channel.to->flush(k, scope);
  }
  return shipped;
}

bool progress_engine::poll(worker_t k) noexcept {
  try {
    const bool moved = inbox_.empty(k) && poll_transport(k);
    if (!run_one(k)) return moved || flush(k, flush_scope::all);
    // The worker may compute next, and the thread beside it cannot send the answers of its
    // handlers.
    if (threads_ > pool_.workers()) flush_standing(k);
    return true;
  } catch (...) {  // out of memory
    control_.poison(rank_, text_of_exception());
    return false;
  }
}

void progress_engine::flush_standing(worker_t k) {
  if (num_standing_channels_ == 0) return;
  for (const auto& channel : channels_.live()) {
    if (channel.kind == channel_kind::standing) channel.to->flush(k, flush_scope::all);
  }
}

// Other ranks wait for the answers. They are sent after a poll without messages: while questions
// arrive at every poll, more answers may join the buffers. A worker that polls less often than the
// age of a buffer, and has found no more than one, sends them at once: its next poll is far off,
// and few answers would join.
void progress_engine::flush_answers(worker_t k, std::size_t handled, std::uint64_t now) {
  auto& mine = workers_[k];
  const bool at_once = now - std::exchange(mine.last_poll_ns, now) >= age_ns_ && handled == 1;
  const bool owed = std::exchange(mine.owes_answers, handled != 0 && !at_once);
  if (at_once || (owed && handled == 0)) flush_standing(k);
}

void progress_engine::flush_old(worker_t k, std::uint64_t now) {
  auto& mine = workers_[k];
  const bool early = sends_early_.load(std::memory_order_relaxed);
  const auto age = early ? std::min(age_ns_, scan_interval * mine.scan_ns) : age_ns_;
  if (now - mine.last_scan_ns < age) return;
  mine.last_scan_ns = now;
  flush(k, flush_scope::only_old);
  if (early) mine.scan_ns = (3 * mine.scan_ns + clock_.now_ns() - now) / 4;
}

void progress_engine::make_progress(worker_t k, bool idle) {
  task::expect_no_task();
  CAIRN_EXPECTS(!workers_[k].in_handler.load(std::memory_order_relaxed),
                "a handler must not wait for messages");
  // Polls even if local messages wait; otherwise peers find no room in this rank's rings.
  if (workers_poll()) poll_transport(k);
  std::size_t handled = 0;
  while (!control_.stopping() && run_one(k)) ++handled;
  if (pool_.take_in(k)) ++handled;
  const bool all_at_the_end = size_ == 1 && num_standing_channels_ + num_worker_channels_ == 0;
  if (idle) {
    flush(k, flush_scope::all);
  } else if (!all_at_the_end) {
    const auto now = clock_.now_ns();
    flush_answers(k, handled, now);
    flush_old(k, now);
    // If cores are shared, the receiver needs this core to make room. A packet without room is
    // copied once more, through uncached memory.
    if (unsent_bytes() > 0) pool_.yield_core();
  }
}

// A poll of MPI costs as much as hundreds of elements, so not every chunk polls.
bool progress_engine::may_continue(worker_t k) noexcept {
  count_step(k);
  try {
    if (control_.stopping()) [[unlikely]]
      control_.announce_stop(k);
    if (size_ > 1 && workers_poll()) {
      const auto now = clock_.now_ns();
      auto& last = workers_[k].last_poll_ns;
      if (now - last >= std::min<std::uint64_t>(age_ns_, 10'000'000)) {
        last = now;
        poll_transport(k);
      }
    }
  } catch (...) {
    control_.poison(rank_, text_of_exception());
  }
  return !interrupted();
}

void progress_engine::throw_if_interrupted() {
  control_.throw_if_poisoned();
  if (!control_.stopping()) return;
  stoppable([] { throw cancelled(); });
}

bool progress_engine::between_chunks(worker_t k) {
  task::expect_no_task();
  pool_.switch_point();
  if (channels_.live().empty()) return may_continue(k);
  count_step(k);
  if (control_.stopping()) [[unlikely]]
    control_.announce_stop(k);
  make_progress(k, false);
  wait_for_room(k);
  return !interrupted();
}

}  // namespace cairn
