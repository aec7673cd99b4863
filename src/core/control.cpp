// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <mutex>
#include <utility>

#include <cairn/base/contract.hpp>
#include <cairn/base/error.hpp>
#include <cairn/core/control.hpp>

namespace cairn {
namespace {

// The parts of a world of one rank.
gathered_parts only(std::span<const std::byte> mine) {
  const std::uint64_t length = mine.size();
  return {{mine.begin(), mine.end()}, std::span(&length, 1), 0};
}

}  // namespace

control::control(net::transport& net, outbox& out, task::spin_lock& network_lock, task::pool& pool,
                 obs::counters& counters)
    : out_(out),
      network_lock_(network_lock),
      pool_(pool),
      counters_(counters),
      rank_(net.self()),
      size_(net.size()),
      board_(net.common_memory(), rank_, size_),
      gathering_(rank_, size_),
      reducing_(rank_, size_) {}

// Packets ------------------------------------------------------------------------------------

void control::send(worker_t k, packet_kind kind, rank_t to, std::span<const std::byte> payload) {
  const packet_header header{.kind = kind, .number = generation()};
  const auto head = std::as_bytes(std::span(&header, 1));
  packet_.assign(head.begin(), head.end());
  packet_.insert(packet_.end(), payload.begin(), payload.end());
  counters_.add(k, obs::counter::protocol_buffers);
  out_.send(k, to, packet_);
}

void control::send_to_all(worker_t k, packet_kind kind, std::span<const std::byte> payload) {
  for (rank_t to = 0; to < size_; ++to) {
    if (to != rank_) send(k, kind, to, payload);
  }
}

void control::handle_packet(worker_t k, const packet_header& header, rank_t from,
                            std::span<const std::byte> payload) {
  if (header.kind == packet_kind::poison) {
    CAIRN_EXPECTS(payload.size() >= sizeof(rank_t), "a truncated packet");
    rank_t failed_rank = 0;
    std::memcpy(&failed_rank, payload.data(), sizeof failed_rank);
    const auto text = payload.subspan(sizeof failed_rank);
    const std::lock_guard held(poison_guard_);
    if (poisoned()) return;
    failed_rank_ = failed_rank;
    poison_text_.assign(reinterpret_cast<const char*>(text.data()), text.size());
    poisoned_.store(true, std::memory_order_release);
    return;
  }
  switch (cancelling_.age_of(header.number)) {
    case cancellation::age::old:
      return;
    case cancellation::age::current:
      return handle_packet_of_generation(k, header, from, payload);
    case cancellation::age::later:
      kept_.push_back({header, from, {payload.begin(), payload.end()}});
  }
}

void control::handle_packet_of_generation(worker_t k, const packet_header& header, rank_t from,
                                          std::span<const std::byte> payload) {
  switch (header.kind) {
    case packet_kind::gather:
      gathering_.receive(from, payload);
      return send_gather(k);
    case packet_kind::reduce:
      reducing_.receive(from, payload);
      return send_reduction(k);
    case packet_kind::cancel: {
      CAIRN_EXPECTS(payload.size() == sizeof(std::uint64_t), "a corrupt packet");
      std::uint64_t collective = 0;
      std::memcpy(&collective, payload.data(), sizeof collective);
      return cancelling_.receive_announcement(collective);
    }
    case packet_kind::channel:
    case packet_kind::poison:
    case packet_kind::bundle:
      break;
  }
  CAIRN_EXPECTS(false, "a packet of a kind that no rank sends");
}

// Collectives --------------------------------------------------------------------------------

void control::send_gather(worker_t k) {
  while (auto out = gathering_.next_send()) send(k, packet_kind::gather, out->to, out->packet);
  if (gathering_.done()) gathered_.store(true, std::memory_order_release);
}

void control::send_reduction(worker_t k) {
  while (auto out = reducing_.next_send()) send(k, packet_kind::reduce, out->to, out->packet);
  if (reducing_.done()) reduced_.store(true, std::memory_order_release);
}

// The caller holds the network lock until the collective has begun, so a rank never begins a
// collective that it has announced.
void control::expect_to_begin(worker_t k) {
  if (stopping()) {
    send_announcement(k);
    throw cancelled();
  }
  cancelling_.begin();
}

// Combines the values once all are on the board.
void control::look_at_board(worker_t k) {
  if (!looks_at_board_.load(std::memory_order_relaxed) || !board_.complete()) return;
  looks_at_board_.store(false, std::memory_order_relaxed);
  if (board_.fits()) {
    try {
      board_result_ = board_.combine(combine_);
    } catch (...) {  // as for a packet
      poison(rank_, text_of_exception());
      throw_if_poisoned();
    }
    return reduced_.store(true, std::memory_order_release);
  }
  const std::lock_guard held(network_lock_);
  reducing_.begin(board_.own_value(), combine_);
  send_reduction(k);
}

void control::wait_for(const std::atomic<bool>& complete) {
  pool_.wait_until([&] {
    announce_stop(main_worker);
    look_at_board(main_worker);
    return poisoned() || cancelling_.stopped() || complete.load(std::memory_order_acquire);
  });
  throw_if_poisoned();
  if (!complete.load(std::memory_order_acquire)) throw cancelled();
}

void control::begin_gather(std::span<const std::byte> mine) {
  gathered_.store(false, std::memory_order_relaxed);
  gathering_.begin(mine);
  send_gather(main_worker);
}

gathered_parts control::finish_gather() {
  wait_for(gathered_);
  const std::lock_guard held(network_lock_);
  return gathering_.take();
}

gathered_parts control::gather(std::span<const std::byte> mine) {
  counters_.add(main_worker, obs::counter::collectives);
  throw_if_poisoned();
  {
    const std::lock_guard held(network_lock_);
    expect_to_begin(main_worker);
    if (size_ == 1) return only(mine);
    begin_gather(mine);
  }
  return finish_gather();
}

void control::begin_reduce(worker_t k, std::span<const std::byte> mine,
                           recursive_doubling::combine_function combine) {
  counters_.add(k, obs::counter::collectives);
  throw_if_poisoned();
  const std::lock_guard held(network_lock_);
  expect_to_begin(k);
  reduced_.store(false, std::memory_order_relaxed);
  if (board_.is_usable()) {
    CAIRN_EXPECTS(!looks_at_board_.load(std::memory_order_relaxed) && !board_result_,
                  "a reduction is running");
    combine_ = combine;
    board_.begin(mine);
    return looks_at_board_.store(true, std::memory_order_relaxed);
  }
  reducing_.begin(mine, combine);
  send_reduction(k);
}

std::optional<std::span<const std::byte>> control::try_take_reduced(worker_t k) {
  throw_if_poisoned();
  look_at_board(k);
  if (!reduced_.load(std::memory_order_acquire)) {
    announce_stop(k);
    if (cancelling_.stopped()) throw cancelled();
    return std::nullopt;
  }
  if (board_result_) return std::exchange(board_result_, std::nullopt);
  const std::lock_guard held(network_lock_);
  return reducing_.take();
}

std::vector<std::byte> control::reduce(std::span<const std::byte> mine,
                                       recursive_doubling::combine_function combine) {
  begin_reduce(main_worker, mine, combine);
  wait_for(reduced_);
  const auto result = *try_take_reduced(main_worker);
  return {result.begin(), result.end()};
}

std::optional<pending_collective> control::pending() const {
  std::unique_lock held(network_lock_, std::try_to_lock);
  // A worker that hangs inside the network holds the lock forever; 4,000 rounds take about 0.1 s.
  for (unsigned rounds = 0; !held.owns_lock() && rounds < 4000; ++rounds) {
    pool_.relax(rounds);
    static_cast<void>(held.try_lock());
  }
  if (!held.owns_lock()) return std::nullopt;
  const auto number = cancelling_.begun();
  if (!gathered_.load(std::memory_order_acquire)) {
    return pending_collective{true, number, gathering_.awaited()};
  }
  if (looks_at_board_.load(std::memory_order_relaxed)) {
    return pending_collective{false, number, board_.awaited()};
  }
  if (!reduced_.load(std::memory_order_acquire)) {
    return pending_collective{false, number, reducing_.awaited()};
  }
  return std::nullopt;
}

// Poison -------------------------------------------------------------------------------------

void control::poison(rank_t failed_rank, const std::string& text) noexcept {
  {
    const std::lock_guard held(poison_guard_);
    if (poisoned()) return;
    failed_rank_ = failed_rank;
    try {
      poison_text_ = text;
    } catch (...) {  // out of memory: poisons without the text
    }
    poisoned_.store(true, std::memory_order_release);
  }
  tell_all(failed_rank, text);
}

// Informs the other ranks, as far as the transport still works and there is memory.
void control::tell_all(rank_t failed_rank, const std::string& text) noexcept {
  const auto tell = [this](auto&& f) {
    try {
      f();
    } catch (...) {
      has_told_all_.store(false, std::memory_order_relaxed);
    }
  };
  tell([&] {
    std::vector<std::byte> payload(sizeof failed_rank + text.size());
    std::memcpy(payload.data(), &failed_rank, sizeof failed_rank);
    std::memcpy(payload.data() + sizeof failed_rank, text.data(), text.size());
    const std::lock_guard held(network_lock_);
    for (rank_t to = 0; to < size_; ++to) {
      if (to != rank_) tell([&] { send(main_worker, packet_kind::poison, to, payload); });
    }
  });
}

void control::throw_if_poisoned() const {
  if (!poisoned()) return;
  const std::lock_guard held(poison_guard_);
  throw peer_failure(failed_rank_, poison_text_);
}

// Cancellation -------------------------------------------------------------------------------

void control::announce_stop(worker_t k) {
  if (!stopping()) return;
  const std::lock_guard held(network_lock_);
  send_announcement(k);
}

void control::send_announcement(worker_t k) {
  if (const auto collective = cancelling_.announcement()) {
    send_to_all(k, packet_kind::cancel, std::as_bytes(std::span(&*collective, 1)));
  }
}

gathered_parts control::restart(std::span<const std::byte> mine) {
  {
    const std::lock_guard held(network_lock_);
    cancelling_.restart();
    gathering_ = collectives(rank_, size_);
    reducing_ = recursive_doubling(rank_, size_);
    board_.restart(generation());
    board_result_.reset();
    looks_at_board_.store(false, std::memory_order_relaxed);
    gathered_.store(true, std::memory_order_relaxed);
    reduced_.store(true, std::memory_order_relaxed);
    if (size_ == 1) return only(mine);
    cancelling_.begin();
    begin_gather(mine);
    const auto kept = std::exchange(kept_, {});
    for (const auto& k : kept) handle_packet(main_worker, k.header, k.from, k.payload);
  }
  return finish_gather();
}

}  // namespace cairn
