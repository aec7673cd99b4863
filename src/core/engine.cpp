// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include <cairn/base/contract.hpp>
#include <cairn/core/engine.hpp>

namespace cairn {
namespace {

constexpr std::uint32_t collective_channel = 0, poison_channel = 1, first_channel = 2;
constexpr std::uint32_t fragment_bit = 1u << 31;
constexpr std::size_t most_spare_buffers = 64;  // per worker

struct fragment_header {
  std::uint64_t total = 0, offset = 0, sequence = 0;  // bytes of payload; sequence per sender
};

template <class T>
T read_struct(std::span<const std::byte> bytes) {
  CAIRN_ASSERT(bytes.size() >= sizeof(T));
  T t;
  std::memcpy(&t, bytes.data(), sizeof(T));
  return t;
}

template <class T>
void append(std::vector<std::byte>& to, const T& t) {
  const auto bytes = std::as_bytes(std::span(&t, 1));
  to.insert(to.end(), bytes.begin(), bytes.end());
}

std::size_t chosen_coalesce_bytes(const net::transport& net, const world_options& options) {
  const auto best =
      options.coalesce_bytes ? options.coalesce_bytes : net.best_packet() - sizeof(packet_header);
  return std::max<std::size_t>(best, 16);
}

}  // namespace

engine::engine(net::transport& net, task::pool& pool, hw::clock& clock, obs::counters& counters,
               const world_options& options)
    : net_(net),
      pool_(pool),
      clock_(clock),
      counters_(counters),
      rank_(net.self()),
      size_(net.size()),
      coalesce_bytes_(chosen_coalesce_bytes(net, options)),
      pending_bound_(options.pending_bytes),
      age_ns_(options.coalesce_age_ns),
      counts_(pool.workers()),
      workers_(pool.workers()),
      next_channel_(first_channel),
      overflow_(static_cast<std::size_t>(net.size())),
      collectives_(net.self(), net.size()) {
  pool_.set_idle_hook([this](worker_t w) { return idle(w); });
}

engine::~engine() {
  pool_.set_attentive(false);
  pool_.set_idle_hook({});
}

std::uint32_t engine::attach(receiver* r) {
  CAIRN_EXPECTS(!epoch_is_open_, "channels are made while no epoch is open");
  receivers_.push_back({next_channel_, r});
  return next_channel_++;
}

void engine::detach(std::uint32_t channel) {
  std::erase_if(receivers_, [channel](const attached& a) { return a.channel == channel; });
}

receiver& engine::receiver_of(std::uint32_t channel) const {
  const auto found = std::ranges::lower_bound(receivers_, channel, {}, &attached::channel);
  CAIRN_ASSERT(found != receivers_.end() && found->channel == channel);
  return *found->to;
}

buffer engine::take_buffer(worker_t w, std::size_t payload_bytes) {
  auto& spare = workers_[w].spare;
  if (!spare.empty() && spare.back().capacity() >= payload_bytes) {
    auto b = std::move(spare.back());
    spare.pop_back();
    b.set_size(0);
    return b;
  }
  return buffer(payload_bytes);
}

void engine::recycle(worker_t w, buffer&& b) {
  auto& spare = workers_[w].spare;
  if (b.capacity() >= coalesce_bytes_ && b.capacity() <= 2 * coalesce_bytes_ &&
      spare.size() < most_spare_buffers) {
    spare.push_back(std::move(b));
  }
}

// Sending ------------------------------------------------------------------------------------

void engine::post(worker_t w, rank_t to, std::uint32_t channel, buffer&& b) {
  b.header() = {.world = 0, .channel = channel, .epoch = epoch_};
  if (to == rank_) {
    b.from = rank_;
    into_inbox(std::move(b));
    return;
  }
  push_out(w, to, std::move(b));
  if (!workers_[w].in_handler) wait_for_room(w);
  pool_.step();
}

void engine::push_out(worker_t w, rank_t to, buffer&& b) {
  counters_.add(w, obs::counter::buffers_sent);
  counters_.add(w, obs::counter::bytes_sent, b.packet().size());
  {
    const std::lock_guard held(net_guard_);
    if (b.packet().size() <= net_.max_packet()) {
      enqueue(to, b.packet());
    } else {
      send_fragments(to, b);
    }
  }
  recycle(w, std::move(b));
}

// Packets to one rank keep their order, so a packet must queue behind an overflow.
void engine::enqueue(rank_t to, std::span<const std::byte> packet) {
  auto& waiting = overflow_[static_cast<std::size_t>(to)];
  if (waiting.empty() && net_.send(to, packet)) return;
  waiting.emplace_back(packet.begin(), packet.end());
  pending_bytes_.fetch_add(packet.size(), std::memory_order_relaxed);
}

void engine::send_fragments(rank_t to, const buffer& b) {
  const auto whole = b.packet();
  auto header = read_struct<packet_header>(whole);
  header.channel |= fragment_bit;
  const auto payload = whole.subspan(sizeof(packet_header));
  const auto most = net_.max_packet() - sizeof(packet_header) - sizeof(fragment_header);
  const auto sequence = next_fragmented_++;
  std::vector<std::byte> packet;
  for (std::size_t offset = 0; offset < payload.size(); offset += most) {
    const auto part = payload.subspan(offset, std::min(most, payload.size() - offset));
    packet.clear();
    append(packet, header);
    append(packet, fragment_header{payload.size(), offset, sequence});
    packet.insert(packet.end(), part.begin(), part.end());
    enqueue(to, packet);
  }
}

void engine::drain_overflow(worker_t w) {
  for (rank_t to = 0; to < size_; ++to) {
    auto& waiting = overflow_[static_cast<std::size_t>(to)];
    while (!waiting.empty() && net_.send(to, waiting.front())) {
      pending_bytes_.fetch_sub(waiting.front().size(), std::memory_order_relaxed);
      waiting.pop_front();
      counters_.add(w, obs::counter::overflow_buffers);
    }
  }
}

void engine::wait_for_room(worker_t w) {
  for (unsigned rounds = 0;
       pending_bytes_.load(std::memory_order_relaxed) > pending_bound_ && !poisoned();) {
    if (exchange_packets(w)) {
      rounds = 0;
    } else {
      pool_.relax(rounds++);
    }
  }
}

// Taking in ----------------------------------------------------------------------------------

bool engine::exchange_packets(worker_t w) {
  if (size_ == 1) return false;
  pool_.step();
  const std::unique_lock held(net_guard_, std::try_to_lock);
  if (!held) return false;
  if (pending_bytes_.load(std::memory_order_relaxed) != 0) drain_overflow(w);
  const auto came =
      net_.poll([&](rank_t from, std::span<const std::byte> packet) { take_in(w, from, packet); });
  if (came != 0) send_collective_packets(w);
  return came != 0;
}

void engine::take_in(worker_t w, rank_t from, std::span<const std::byte> packet) {
  const auto header = read_struct<packet_header>(packet);
  counters_.add(w, obs::counter::buffers_received);
  counters_.add(w, obs::counter::bytes_received, packet.size());
  if (header.channel & fragment_bit) {
    take_fragment(w, from, packet);
    return;
  }
  const auto payload = packet.subspan(sizeof(packet_header));
  auto b = take_buffer(w, std::max(payload.size(), coalesce_bytes_));
  std::memcpy(b.payload(), payload.data(), payload.size());
  b.set_size(payload.size());
  b.header() = header;
  b.from = from;
  accept(w, std::move(b));
}

void engine::take_fragment(worker_t w, rank_t from, std::span<const std::byte> packet) {
  auto header = read_struct<packet_header>(packet);
  const auto piece = read_struct<fragment_header>(packet.subspan(sizeof(packet_header)));
  const auto bytes = packet.subspan(sizeof(packet_header) + sizeof(fragment_header));
  auto& part = partials_[{from, piece.sequence}];
  if (!part.whole) {
    header.channel &= ~fragment_bit;
    part.whole = buffer(piece.total);
    part.whole.set_size(piece.total);
    part.whole.header() = header;
    part.whole.from = from;
    part.missing = piece.total;
  }
  CAIRN_ASSERT(piece.offset + bytes.size() <= part.whole.size());
  std::memcpy(part.whole.payload() + piece.offset, bytes.data(), bytes.size());
  part.missing -= bytes.size();
  if (part.missing != 0) return;
  auto whole = std::move(part.whole);
  partials_.erase({from, piece.sequence});
  counters_.add(w, obs::counter::fragments);
  accept(w, std::move(whole));
}

void engine::accept(worker_t w, buffer&& b) {
  const std::span payload(b.payload(), b.size());
  switch (b.header().channel) {
    case collective_channel: {
      collectives_.receive(b.from, payload);
      recycle(w, std::move(b));
      break;
    }
    case poison_channel: {
      const auto culprit = read_struct<rank_t>(payload);
      const auto text = payload.subspan(sizeof(rank_t));
      const std::lock_guard held(poison_guard_);
      if (!poisoned()) {
        culprit_ = culprit;
        poison_text_.assign(reinterpret_cast<const char*>(text.data()), text.size());
        poisoned_.store(true, std::memory_order_release);
      }
      break;
    }
    default:
      into_inbox(std::move(b));
  }
}

void engine::into_inbox(buffer&& b) {
  const std::lock_guard held(inbox_guard_);
  const auto epoch = b.header().epoch;
  CAIRN_ASSERT(epoch == 0 || epoch >= epoch_);
  if (epoch == 0 || (epoch == epoch_ && epoch_is_open_)) {
    inbox_.push_back(std::move(b));
    inbox_size_.store(inbox_.size(), std::memory_order_relaxed);
  } else {
    early_.push_back(std::move(b));
  }
}

void engine::dispatch(worker_t w, buffer&& b) {
  auto& to = receiver_of(b.header().channel);
  workers_[w].in_handler = true;
  std::optional<std::string> failure;
  try {
    to.deliver(w, b.from, {b.payload(), b.size()});
  } catch (const std::exception& e) {
    failure = e.what();
  } catch (...) {
    failure = "a handler threw something that is no std::exception";
  }
  workers_[w].in_handler = false;
  if (failure) poison(rank_, *failure);
  recycle(w, std::move(b));
  pool_.step();
}

bool engine::progress(worker_t w) {
  const bool moved = inbox_size_.load(std::memory_order_relaxed) == 0 && exchange_packets(w);
  if (inbox_size_.load(std::memory_order_relaxed) == 0) return moved;
  buffer b;
  {
    const std::lock_guard held(inbox_guard_);
    if (inbox_.empty()) return moved;
    b = std::move(inbox_.front());
    inbox_.pop_front();
    inbox_size_.store(inbox_.size(), std::memory_order_relaxed);
  }
  if (!poisoned()) dispatch(w, std::move(b));
  return true;
}

bool engine::flush(worker_t w, bool only_old) {
  bool shipped = false;
  for (const auto& a : receivers_) shipped |= a.to->flush(w, only_old);
  return shipped;
}

bool engine::idle(worker_t w) { return progress(w) || (epoch_is_open_ && flush(w, false)); }

void engine::between_chunks(worker_t w) {
  pool_.step();
  if (receivers_.empty()) return;
  // Look at the network even if own messages wait: else peers find no room in its rings.
  exchange_packets(w);
  while (inbox_size_.load(std::memory_order_relaxed) != 0 && progress(w)) {
  }
  if (size_ == 1 || !epoch_is_open_) return;
  const auto now = clock_.now_ns();
  if (now - workers_[w].last_scan_ns < age_ns_) return;
  workers_[w].last_scan_ns = now;
  flush(w, true);
}

void engine::open_epoch() {
  CAIRN_EXPECTS(!epoch_is_open_, "one epoch of a world is open at a time");
  {
    const std::lock_guard held(inbox_guard_);
    ++epoch_;
    epoch_is_open_ = true;
    for (auto& b : early_) {
      if (b && b.header().epoch == epoch_) inbox_.push_back(std::move(b));
    }
    std::erase_if(early_, [](const buffer& b) { return !b; });
    inbox_size_.store(inbox_.size(), std::memory_order_relaxed);
  }
  if (size_ > 1 && pool_.workers() > 1) pool_.set_attentive(true);
}

void engine::close_epoch() {
  {
    const std::lock_guard held(inbox_guard_);
    epoch_is_open_ = false;
  }
  if (size_ > 1 && pool_.workers() > 1) {
    pool_.set_attentive(false);
    pool_.run([](worker_t) {});  // after it no worker is inside the idle hook any more
  }
}

// Control ------------------------------------------------------------------------------------

void engine::send_collective_packets(worker_t w) {
  while (auto out = collectives_.next_send()) {
    buffer b(out->packet.size());
    std::memcpy(b.payload(), out->packet.data(), out->packet.size());
    b.set_size(out->packet.size());
    b.header() = {.world = 0, .channel = collective_channel, .epoch = 0};
    counters_.add(w, obs::counter::buffers_sent);
    counters_.add(w, obs::counter::bytes_sent, b.packet().size());
    if (b.packet().size() <= net_.max_packet()) {
      enqueue(out->to, b.packet());
    } else {
      send_fragments(out->to, b);
    }
  }
  if (collectives_.done()) collective_done_.store(true, std::memory_order_release);
}

std::vector<std::vector<std::byte>> engine::all_gather(std::span<const std::byte> mine) {
  counters_.add(0, obs::counter::collectives);
  throw_if_poisoned();
  if (size_ == 1) return {std::vector<std::byte>(mine.begin(), mine.end())};
  {
    const std::lock_guard held(net_guard_);
    collective_done_.store(false, std::memory_order_relaxed);
    collectives_.begin(mine);
    send_collective_packets(0);
  }
  pool_.wait_until(
      [this] { return poisoned() || collective_done_.load(std::memory_order_acquire); });
  throw_if_poisoned();
  const std::lock_guard held(net_guard_);
  return collectives_.take_parts();
}

void engine::poison(rank_t culprit, const std::string& text) {
  {
    const std::lock_guard held(poison_guard_);
    if (poisoned()) return;
    culprit_ = culprit;
    poison_text_ = text;
    poisoned_.store(true, std::memory_order_release);
  }
  buffer b(sizeof(rank_t) + text.size());
  std::memcpy(b.payload(), &culprit, sizeof culprit);
  std::memcpy(b.payload() + sizeof culprit, text.data(), text.size());
  b.set_size(sizeof culprit + text.size());
  b.header() = {.world = 0, .channel = poison_channel, .epoch = 0};
  const std::lock_guard held(net_guard_);
  for (rank_t to = 0; to < size_; ++to) {
    if (to == rank_) continue;
    if (b.packet().size() <= net_.max_packet()) {
      enqueue(to, b.packet());
    } else {
      send_fragments(to, b);
    }
  }
}

void engine::throw_if_poisoned() const {
  if (poisoned()) throw peer_failure(culprit_, poison_text_);
}

void engine::drain() {
  if (size_ == 1) return;
  const auto deadline = clock_.now_ns() + 2'000'000'000;
  pool_.wait_until([&] {
    const std::unique_lock held(net_guard_, std::try_to_lock);
    if (!held) return false;
    if (pending_bytes_.load(std::memory_order_relaxed) == 0 && net_.flushed()) return true;
    return poisoned() && clock_.now_ns() > deadline;
  });
}

}  // namespace cairn
