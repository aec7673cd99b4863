// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include <cairn/am/record_channel.hpp>
#include <cairn/base/contract.hpp>

namespace cairn::am {
namespace {

// Marks a length that does not fit in 4 bytes; the length follows in 8 more bytes.
constexpr std::uint32_t long_record = ~std::uint32_t{0};

struct prefix {
  std::uint64_t length;  // of the record
  std::size_t bytes;     // of the prefix
};

prefix prefix_for(std::uint64_t length) {
  return {length, length < long_record ? sizeof(std::uint32_t)
                                       : sizeof(std::uint32_t) + sizeof(std::uint64_t)};
}

prefix read_prefix(const std::byte* at) {
  std::uint32_t length;
  std::memcpy(&length, at, sizeof length);
  auto read = prefix{length, sizeof length};
  if (length == long_record) {
    std::memcpy(&read.length, at + sizeof length, sizeof read.length);
    read.bytes += sizeof read.length;
  }
  return read;
}

void write_prefix(std::byte* at, const prefix& p) {
  const auto length = static_cast<std::uint32_t>(std::min<std::uint64_t>(p.length, long_record));
  std::memcpy(at, &length, sizeof length);
  if (length == long_record) std::memcpy(at + sizeof length, &p.length, sizeof p.length);
}

// The size of the first record with its prefix; 0 if `bytes` does not hold all of it.
std::size_t first_record(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(std::uint32_t)) return 0;
  if (bytes.size() < sizeof(std::uint32_t) + sizeof(std::uint64_t)) {
    std::uint32_t length;
    std::memcpy(&length, bytes.data(), sizeof length);
    if (length == long_record) return 0;
  }
  const auto p = read_prefix(bytes.data());
  return p.length <= bytes.size() - p.bytes ? p.bytes + p.length : 0;
}

}  // namespace

record_batch::record_batch(std::span<const std::byte> bytes) : bytes_(bytes) {
  while (!bytes.empty()) {
    const auto first = first_record(bytes);
    CAIRN_EXPECTS(first != 0, "a record is longer than its buffer");
    bytes = bytes.subspan(first);
    ++size_;
  }
}

record_batch::iterator::value_type record_batch::iterator::operator*() const {
  const auto p = read_prefix(at_);
  return {at_ + p.bytes, p.length};
}

record_batch::iterator& record_batch::iterator::operator++() {
  const auto p = read_prefix(at_);
  at_ += p.bytes + p.length;
  return *this;
}

record_channel::record_channel(world& w, const channel_options& opt, owner_function owner,
                               handler on_records)
    : coalescer(w, opt, owner ? travel::routed : travel::directly),
      owner_(std::move(owner)),
      on_records_(std::move(on_records)),
      scratch_(w.handling_threads()) {
  attach(0, "records");
}

void record_channel::send(worker_t k, rank_t to, std::span<const std::byte> record) {
  CAIRN_ASSERT(to >= 0 && to < ranks());
  expect_sending();
  append(k, to, record);
  state_of(k).count.add_sent(1);
}

void record_channel::append(worker_t k, rank_t to, std::span<const std::byte> record) {
  const auto p = prefix_for(record.size());
  const auto needed = p.bytes + record.size();
  const auto hop = next_hop(to);
  auto& b = state_of(k).blocks[static_cast<std::size_t>(hop)];
  if (static_cast<std::size_t>(b.end - b.at) < needed) {
    turn_over(k, hop, needed);
  }
  write_prefix(b.at, p);
  if (!record.empty()) std::memcpy(b.at + p.bytes, record.data(), record.size());
  b.at += needed;
  ++b.records;
}

// Moves the records for this rank to the front and returns them.
std::span<std::byte> record_channel::forward_others(worker_t k, std::span<std::byte> received) {
  forwarding forward(*this, k);
  std::size_t kept = 0, forwarded = 0;
  for (auto left = received; !left.empty();) {
    const auto size = first_record(left);
    CAIRN_EXPECTS(size != 0, "a record is longer than its buffer");
    const auto record = *record_batch::iterator(left.data());
    const auto to = owner_(record);
    if (to == rank()) {
      std::memmove(received.data() + kept, left.data(), size);
      kept += size;
    } else {
      forward(to, [&] { append(k, to, record); });
      ++forwarded;
    }
    left = left.subspan(size);
  }
  forward.end(forwarded);
  return received.first(kept);
}

void record_channel::deliver(worker_t k, rank_t from, std::span<std::byte> payload) {
  if (routed() && from != rank()) payload = forward_others(k, payload);
  const record_batch batch(payload);
  if (batch.size() != 0) on_records_(k, from, batch);
  count_handled(k, batch.size());
}

}  // namespace cairn::am
