// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstring>
#include <mutex>
#include <utility>

#include <cairn/base/contract.hpp>
#include <cairn/base/packing.hpp>
#include <cairn/core/communication_server.hpp>

namespace cairn {

std::vector<buffer> communication_server::hand_over(worker_t k, rank_t to, std::size_t messages,
                                                    buffer&& b) {
  waiting_bytes_.fetch_add(b.packet().size(), std::memory_order_relaxed);
  auto& mine = channels_[k];
  const std::lock_guard held(mine.guard);
  mine.filled.push_back({to, {std::move(b), messages, k}});
  mine.num_filled.store(mine.filled.size(), std::memory_order_relaxed);
  return std::exchange(mine.sent, {});
}

bool communication_server::take_in(std::uint64_t now_ns) {
  bool any = false;
  for (auto& of_thread : channels_) {
    auto& c = of_thread.value;
    if (c.num_filled.load(std::memory_order_relaxed) == 0) continue;
    any = true;
    {
      const std::lock_guard held(c.guard);
      std::swap(taken_, c.filled);
      c.num_filled.store(0, std::memory_order_relaxed);
    }
    for (auto& b : taken_) {
      auto& queue = queues_[static_cast<std::size_t>(b.to)];
      if (queue.empty()) used_.push_back(b.to);
      queue.push(std::move(b.block), now_ns);
    }
    taken_.clear();
  }
  return any;
}

bool communication_server::send(worker_t k, outbox& out, obs::counters& counters,
                                std::uint64_t now_ns, bool all) {
  if (waiting_bytes() == 0 || out.waiting_bytes() != 0) return false;
  bool any = take_in(now_ns);
  for (const auto to : used_) {
    auto& queue = queues_[static_cast<std::size_t>(to)];
    for (auto due = queue.take(now_ns, all); !due.empty(); due = queue.take(now_ns, all)) {
      send_together(k, to, std::move(due), out, counters);
      any = true;
    }
  }
  std::erase_if(used_, [&](rank_t to) { return queues_[static_cast<std::size_t>(to)].empty(); });
  return any;
}

void communication_server::send_together(worker_t k, rank_t to, std::vector<outgoing_block> blocks,
                                         outbox& out, obs::counters& counters) {
  std::size_t bytes = 0, messages = 0;
  for (auto& b : blocks) {
    bytes += b.items.packet().size();
    messages += b.messages;
  }
  if (blocks.size() == 1) {
    out.send(k, to, blocks.front().items.packet(), messages);
  } else {
    const packet_header header{.kind = packet_kind::bundle};
    packet_.clear();
    append_bytes(packet_, &header, sizeof header);
    for (auto& b : blocks) {
      const bundle_entry entry{b.items.header(), b.items.size()};
      append_bytes(packet_, &entry, sizeof entry);
      append_bytes(packet_, b.items.payload(), b.items.size());
    }
    out.send(k, to, packet_, messages);
    counters.add(k, obs::counter::buffers_joined, blocks.size());
  }
  // Not before: from now on only the outbox counts them.
  waiting_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  for (auto& b : blocks) {
    auto& from = channels_[b.filled_by];
    const std::lock_guard held(from.guard);
    from.sent.push_back(std::move(b.items));
  }
}

bundle_entry communication_server::first_entry(std::span<const std::byte> bundle) {
  bundle_entry entry;
  CAIRN_EXPECTS(bundle.size() >= sizeof entry, "a truncated bundle");
  constexpr auto fragment = offsetof(bundle_entry, header) + offsetof(packet_header, fragment);
  CAIRN_EXPECTS(bundle[fragment] == std::byte{0}, "a damaged bundle");
  std::memcpy(&entry, bundle.data(), sizeof entry);
  CAIRN_EXPECTS(
      entry.bytes <= bundle.size() - sizeof entry && entry.header.kind == packet_kind::channel,
      "a damaged bundle");
  return entry;
}

}  // namespace cairn
