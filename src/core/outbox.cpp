// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include <cairn/core/outbox.hpp>

namespace cairn {

void outbox::send(worker_t k, rank_t to, std::span<std::byte> packet, std::size_t messages) {
  obs::trace_span sent(trace_, k, obs::trace_kind::send);
  if (trace_.wanted()) [[unlikely]]
    number_and_describe(sent, to, packet, messages);
  traffic_.add(to, {.messages = messages, .bytes = packet.size(), .buffers = 1});
  counters_.add(k, obs::counter::buffers_sent);
  counters_.add(k, obs::counter::bytes_sent, packet.size());
  if (packet.size() <= net_.max_packet()) {
    enqueue(k, to, packet);
  } else {
    cutting_.cut(packet, [&](std::span<const std::byte> fragment) { enqueue(k, to, fragment); });
  }
}

// A paused trace numbers packets too: a receiver that records would take a packet without a number
// for another one. Poison may come from a thread that is no worker, and ends the trace with the
// world.
void outbox::number_and_describe(obs::trace_span& sent, rank_t to, std::span<std::byte> packet,
                                 std::size_t messages) {
  packet_header header;
  std::memcpy(&header, packet.data(), sizeof header);
  if (header.kind == packet_kind::poison) return sent.drop();
  header.sequence = sequences_[static_cast<std::size_t>(to)]++;
  std::memcpy(packet.data(), &header, sizeof header);
  if (!sent) return;
  sent->amount = packet.size();
  sent->count = static_cast<std::uint32_t>(messages);
  sent->peer = to;
  sent->sequence = header.sequence;
  if (header.kind == packet_kind::channel) {
    sent->number = header.number;
  } else {
    sent->set_text(name(header.kind));
  }
}

// A packet queues behind those already waiting.
void outbox::enqueue(worker_t k, rank_t to, std::span<const std::byte> packet) {
  auto& queue = waiting_[static_cast<std::size_t>(to)];
  const bool may_send = sender_ == any_worker || k == sender_;
  if (may_send && queue.empty() && net_.send(to, packet)) return;
  queue.emplace_back(packet.begin(), packet.end());
  waiting_bytes_.fetch_add(packet.size(), std::memory_order_relaxed);
}

void outbox::drain(worker_t k) {
  if (waiting_bytes() == 0) return;
  for (rank_t to = 0; to < net_.size(); ++to) {
    auto& queue = waiting_[static_cast<std::size_t>(to)];
    while (!queue.empty() && net_.send(to, queue.front())) {
      waiting_bytes_.fetch_sub(queue.front().size(), std::memory_order_relaxed);
      queue.pop_front();
      counters_.add(k, obs::counter::overflow_buffers);
    }
  }
}

void outbox::try_to_drain(worker_t k) noexcept {
  try {
    drain(k);
  } catch (...) {  // the transport has failed
  }
}

}  // namespace cairn
