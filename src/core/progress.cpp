// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <exception>
#include <mutex>

#include <cairn/base/contract.hpp>
#include <cairn/core/progress.hpp>

namespace cairn {
namespace {

std::size_t chosen_coalesce_bytes(const net::transport& net, const world_options& options) {
  const auto best =
      options.coalesce_bytes ? options.coalesce_bytes : net.best_packet() - sizeof(packet_header);
  return std::max<std::size_t>(best, 16);
}

/// What the exception in flight says, for the other ranks.
std::string text_of_exception() {
  try {
    throw;
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "a handler threw something that is no std::exception";
  }
}

}  // namespace

progress_engine::progress_engine(net::transport& net, task::pool& pool, hw::clock& clock,
                                 obs::counters& counters, const world_options& options)
    : net_(net),
      pool_(pool),
      clock_(clock),
      counters_(counters),
      rank_(net.self()),
      size_(net.size()),
      memory_bound_(options.pending_bytes),
      age_ns_(options.coalesce_age_ns),
      fragments_(net.max_packet()),
      outbox_(net, fragments_, counters),
      inbox_(channels_),
      buffers_(pool.workers(), chosen_coalesce_bytes(net, options)),
      control_(net, outbox_, network_lock_, pool, counters),
      workers_(pool.workers()),
      holds_(pool.workers()) {
  pool_.add_source(*this);
}

progress_engine::~progress_engine() {
  leave_epoch();
  pool_.remove_source(*this);
}

// A transport that fails, or a packet that no rank of this world can have sent, fails the world: an
// exception would reach only one of those that use it.
template <class F>
bool progress_engine::with_transport(F&& f) {
  if (transport_failed_.load(std::memory_order_relaxed)) return false;
  try {
    return f();
  } catch (...) {
    transport_failed_.store(true, std::memory_order_relaxed);
    control_.poison(rank_, text_of_exception());
    return true;
  }
}

// Channels -----------------------------------------------------------------------------------

std::uint32_t progress_engine::attach(receiver& r, channel_kind kind) {
  std::uint32_t number = 0;
  pool_.while_quiet([&] {
    number = channels_.add(r, kind);
    inbox_.look_again();
  });
  if (kind == channel_kind::standing) {
    ++num_standing_;
    pool_.attend();
  }
  return number;
}

void progress_engine::detach(std::uint32_t number, channel_kind kind) {
  if (kind == channel_kind::standing) {
    --num_standing_;
    pool_.ignore();
  }
  pool_.while_quiet([&] { channels_.remove(number); });
}

// Packets to this rank go through the inbox, so that their handlers do not run inside the send.
void progress_engine::post(worker_t w, rank_t to, std::uint32_t number, channel_kind kind,
                           buffer&& b) {
  b.header() = {.number = number, .epoch = kind == channel_kind::epoch ? epoch_ : 0};
  if (to == rank_) {
    b.from = rank_;
    charge(w, -static_cast<std::int64_t>(b.capacity()));
    inbox_.accept(std::move(b));
    return;
  }
  with_transport([&] {
    const std::lock_guard held(network_lock_);
    outbox_.send(w, to, b.packet());
    return true;
  });
  charge(w, -static_cast<std::int64_t>(b.capacity()));
  buffers_.give_back(w, std::move(b));
  pool_.step();
}

// Progress -----------------------------------------------------------------------------------

bool progress_engine::poll(worker_t w) {
  if (size_ == 1) return false;
  pool_.step();
  // Above the bound of memory the handlers run first.
  if (!inbox_.empty() && held_bytes() > memory_bound_) return false;
  return with_transport([&] {
    const std::unique_lock held(network_lock_, std::try_to_lock);
    if (!held) return false;
    outbox_.drain(w);
    return net_.poll([&](rank_t from, std::span<const std::byte> packet) {
      arrived(w, from, packet);
    }) != 0;
  });
}

void progress_engine::arrived(worker_t w, rank_t from, std::span<const std::byte> packet) {
  counters_.add(w, obs::counter::buffers_received);
  counters_.add(w, obs::counter::bytes_received, packet.size());
  packet_header header;
  CAIRN_EXPECTS(packet.size() >= sizeof header, "a truncated packet");
  std::memcpy(&header, packet.data(), sizeof header);
  auto payload = packet.subspan(sizeof header);
  buffer b;
  if (header.fragment) {
    auto whole = fragments_.join(from, packet);
    if (!whole) return;
    counters_.add(w, obs::counter::fragments);
    b = std::move(*whole);
    payload = {b.payload(), b.size()};
  }
  if (header.kind != packet_kind::channel) return control_.take_in(w, header, from, payload);
  if (!b) {
    b = buffers_.take(w, std::max(payload.size(), buffers_.usual_bytes()));
    std::memcpy(b.payload(), payload.data(), payload.size());
    b.set_size(payload.size());
    b.header() = header;
    b.from = from;
  }
  inbox_.accept(std::move(b));
}

void progress_engine::deliver(worker_t w, buffer&& b) {
  auto* const to = channels_.find(b.header().number);
  if (to == nullptr || control_.poisoned()) return buffers_.give_back(w, std::move(b));
  workers_[w].in_handler = true;
  try {
    to->deliver(w, b.from, {b.payload(), b.size()});
  } catch (...) {
    control_.poison(rank_, text_of_exception());
  }
  workers_[w].in_handler = false;
  buffers_.give_back(w, std::move(b));
  pool_.step();
}

bool progress_engine::run_one(worker_t w) {
  auto b = inbox_.take();
  if (b) deliver(w, std::move(*b));
  return b.has_value();
}

bool progress_engine::flush(worker_t w, bool only_old) {
  bool shipped = false;
  for (const auto& channel : channels_.live()) {
    if (channel.kind == channel_kind::epoch && !epoch_open()) continue;
    shipped |= channel.to->flush(w, only_old);
  }
  return shipped;
}

bool progress_engine::progress(worker_t w) noexcept {
  try {
    const bool moved = inbox_.empty() && poll(w);
    return run_one(w) || moved || flush(w, false);
  } catch (...) {  // out of memory
    control_.poison(rank_, text_of_exception());
    return false;
  }
}

void progress_engine::flush_standing(worker_t w) {
  if (num_standing_ == 0) return;
  for (const auto& channel : channels_.live()) {
    if (channel.kind == channel_kind::standing) channel.to->flush(w, false);
  }
}

void progress_engine::flush_old(worker_t w) {
  if (size_ == 1) return;
  const auto now = clock_.now_ns();
  if (now - workers_[w].last_scan_ns < age_ns_) return;
  workers_[w].last_scan_ns = now;
  flush(w, true);
}

void progress_engine::move_on(worker_t w, bool idle) {
  CAIRN_EXPECTS(!workers_[w].in_handler, "a handler does not wait for messages");
  // The network even if own messages wait: else peers find no room in its rings.
  poll(w);
  bool handled = false;
  while (!control_.stopping() && run_one(w)) handled = true;
  if (idle) {
    flush(w, false);
  } else {
    if (handled) flush_standing(w);  // answers, for which others wait
    flush_old(w);
  }
}

bool progress_engine::between_chunks(worker_t w) {
  pool_.step();
  if (control_.stopping()) [[unlikely]]
    control_.announce_stop(w);
  if (!channels_.live().empty()) {
    move_on(w, false);
    wait_for_room(w);
  }
  return !control_.stopping() && !control_.poisoned();
}

std::size_t progress_engine::held_bytes() const noexcept {
  auto held = static_cast<std::int64_t>(inbox_.bytes());
  for (worker_t w = 0; w < pool_.workers(); ++w) {
    held += workers_[w].held_bytes.load(std::memory_order_relaxed);
  }
  return static_cast<std::size_t>(std::max<std::int64_t>(held, 0)) + outbox_.pending_bytes();
}

// Waiting sends what the outbox holds and nothing else, so a quarter of the bound is always its.
bool progress_engine::lacks_room() const noexcept {
  const auto pending = outbox_.pending_bytes();
  return pending > memory_bound_ / 4 && held_bytes() > memory_bound_;
}

void progress_engine::wait_for_room(worker_t w) {
  for (unsigned rounds = 0; lacks_room() && !control_.poisoned() && !control_.stopping();) {
    const bool moved = poll(w);
    if (run_one(w) || moved) {
      rounds = 0;
    } else {
      pool_.relax(rounds++);
      pool_.throw_if_stalled();
    }
  }
}

// Epochs -------------------------------------------------------------------------------------

void progress_engine::expect_no_epoch_left() {
  if (!epoch_was_left_ || size_ == 1) return;
  control_.poison(rank_, "an epoch was left without close(), which the other ranks wait for");
  control_.throw_if_poisoned();
}

void progress_engine::open_epoch() {
  CAIRN_EXPECTS(!epoch_open(), "one epoch of a world is open at a time");
  expect_no_epoch_left();
  epoch_was_left_ = false;
  inbox_.open_epoch(++epoch_);
  epoch_is_open_.store(true, std::memory_order_relaxed);
  if (size_ > 1) pool_.attend();
}

void progress_engine::close_epoch() {
  inbox_.close_epoch();
  epoch_is_open_.store(false, std::memory_order_relaxed);
  if (size_ > 1) pool_.ignore();
}

void progress_engine::leave_epoch() noexcept {
  if (!epoch_open()) return;
  epoch_was_left_ = true;
  try {
    // Handlers that run now end first.
    pool_.while_quiet([this] {
      inbox_.close_epoch();
      epoch_is_open_.store(false, std::memory_order_relaxed);
      abandon_epoch();
    });
    if (size_ > 1) pool_.ignore();
  } catch (...) {
    control_.poison(rank_, text_of_exception());
  }
}

void progress_engine::abandon_epoch() {
  inbox_.abandon_up_to(epoch_);
  for (const auto& channel : channels_.live()) {
    if (channel.kind == channel_kind::epoch) channel.to->abandon();
  }
  for (auto& h : holds_) h.value.reset();
}

progress_engine::totals progress_engine::epoch_totals() const noexcept {
  totals here;
  const auto each_count = [this](auto&& f) {
    for (worker_t w = 0; w < pool_.workers(); ++w) {
      f(holds_[w]);
      for (const auto& channel : channels_.live()) {
        if (channel.kind == channel_kind::epoch) f(channel.to->count(w));
      }
    }
  };
  each_count([&](const message_count& c) { here.handled += c.handled(); });
  each_count([&](const message_count& c) { here.sent += c.sent(); });
  return here;
}

// Collectives --------------------------------------------------------------------------------

std::vector<std::vector<std::byte>> progress_engine::all_gather(std::span<const std::byte> mine) {
  expect_no_epoch_left();
  return stoppable([&] { return control_.gather(mine); });
}

std::vector<std::byte> progress_engine::reduce(std::span<const std::byte> mine,
                                               recursive_doubling::combine_function combine) {
  expect_no_epoch_left();
  return stoppable([&] { return control_.reduce(mine, combine); });
}

// The ranks may have opened another epoch and constructed other channels since the collective
// before; they go on with numbers that none of them has used.
void progress_engine::stop_with_the_others() {
  control_.announce_stop(0);
  leave_epoch();
  epoch_was_left_ = false;
  struct numbers {
    std::uint64_t epoch, channel;
  } last{epoch_, channels_.next()};
  for (const auto& part : control_.restart(std::as_bytes(std::span(&last, 1)))) {
    numbers other{};
    std::memcpy(&other, part.data(), sizeof other);
    last = {std::max(last.epoch, other.epoch), std::max(last.channel, other.channel)};
  }
  pool_.while_quiet([&] {
    epoch_ = last.epoch;
    channels_.skip_to(static_cast<std::uint32_t>(last.channel));
    abandon_epoch();
  });
}

void progress_engine::drain() noexcept {
  if (size_ == 1) return;
  const auto deadline = clock_.now_ns() + 2'000'000'000;
  try {
    pool_.wait_until([&] {
      const std::unique_lock held(network_lock_, std::try_to_lock);
      if (!held) return false;
      if (outbox_.empty() || transport_failed_.load(std::memory_order_relaxed)) return true;
      return control_.poisoned() && clock_.now_ns() > deadline;
    });
  } catch (...) {  // what the transport cannot send is lost with this rank
  }
}

}  // namespace cairn
