// SPDX-License-Identifier: Apache-2.0
//
// What arrives from other ranks: packets, fragments, records. Other ranks are trusted to follow the
// protocol, so that a packet that does not is a contract_violation; it never leads outside memory.
#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <cairn/am/record_channel.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/packing.hpp>
#include <cairn/core/collectives.hpp>
#include <cairn/core/communication_server.hpp>
#include <cairn/core/fragments.hpp>
#include <cairn/core/inbox.hpp>
#include <cairn/core/recursive_doubling.hpp>

#include "fuzz.hpp"

namespace cairn::fuzz {
namespace {

/// Calls f, which may find that its bytes break a contract. Returns whether they did.
template <class F>
bool may_violate(F&& f) {
  try {
    f();
    return false;
  } catch (const contract_violation&) {
    return true;
  }
}

class nobody final : public receiver {
 public:
  void deliver(worker_t, rank_t, std::span<std::byte>) override {}
  bool flush(worker_t, flush_scope) override { return false; }
  [[nodiscard]] const message_counter& count(worker_t) const noexcept override { return count_; }
  void abandon() noexcept override {}

 private:
  message_counter count_;
};

void longer(std::span<const std::byte> lower, std::span<const std::byte> higher,
            std::vector<std::byte>& result) {
  const auto& chosen = lower.size() < higher.size() ? higher : lower;
  result.insert(result.end(), chosen.begin(), chosen.end());
}

constexpr std::array<std::byte, 5> part{};
constexpr std::uint64_t max_announced = 1 << 14;

/// The receiving side of one rank, each part as core uses it.
class receiving_rank {
 public:
  receiving_rank(rank_t self, rank_t size)
      : fragments_(64), inbox_(channels_), gathering_(self, size), reducing_(self, size) {
    static_cast<void>(channels_.add(receiver_, channel_kind::epoch));
    const auto destroyed = channels_.add(receiver_, channel_kind::standing);
    static_cast<void>(channels_.add(receiver_, channel_kind::standing));
    channels_.remove(destroyed);
    gathering_.begin(part);
    reducing_.begin(part, longer);
  }

  void arrived(rank_t from, std::span<const std::byte> packet) {
    packet_header header;
    CAIRN_EXPECTS(packet.size() >= sizeof header);
    CAIRN_EXPECTS(packet[offsetof(packet_header, fragment)] <= std::byte{1});
    std::memcpy(&header, packet.data(), sizeof header);
    auto payload = packet.subspan(sizeof header);
    std::optional<buffer> whole;
    if (header.fragment) {
      // A sender may announce what it likes; the memory is taken when the bytes arrive.
      std::uint64_t total = 0;
      CAIRN_EXPECTS(payload.size() >= sizeof total);
      std::memcpy(&total, payload.data(), sizeof total);
      if (total > max_announced) return;
      whole = fragments_.join(from, packet);
      if (!whole) return;
      payload = {whole->payload(), whole->size()};
    }
    if (header.kind == packet_kind::bundle) {
      return communication_server::take_apart(
          payload, [&](const packet_header& of_block, std::span<const std::byte> block) {
            accept(of_block, block, from);
          });
    }
    switch (static_cast<unsigned>(header.kind) % 4) {
      case 0:
        return accept(header, payload, from);
      case 1:
        gathering_.receive(from, payload);
        while (gathering_.next_send()) continue;
        if (!gathering_.done()) return;
        static_cast<void>(gathering_.take());
        return gathering_.begin(part);
      case 2:
        reducing_.receive(from, payload);
        while (reducing_.next_send()) continue;
        if (!reducing_.done()) return;
        static_cast<void>(reducing_.take());
        return reducing_.begin(part, longer);
      default:
        return turn_epoch(header.epoch % 8);
    }
  }

 private:
  void accept(const packet_header& header, std::span<const std::byte> payload, rank_t from) {
    buffer b(payload.size());
    b.header() = header;
    if (!payload.empty()) std::memcpy(b.payload(), payload.data(), payload.size());
    b.set_size(payload.size());
    b.from = from;
    inbox_.accept(std::move(b));
    while (inbox_.take()) continue;
  }

  void turn_epoch(std::uint64_t epoch) {
    inbox_.open_epoch(epoch);
    while (inbox_.take()) continue;
    inbox_.close_epoch();
    inbox_.abandon_up_to(epoch);
    inbox_.requeue_aside();
  }

  registry channels_;
  nobody receiver_;
  fragments fragments_;
  inbox inbox_;
  collectives gathering_;
  recursive_doubling reducing_;
};

/// Unpacks a T; what was unpacked from all of the bytes packs to them again, if `exact`.
template <class T>
void unpack_as(std::span<const std::byte> record, bool exact = true) {
  may_violate([&] {
    const auto value = unpacked<T>(record);
    const auto again = packed(value);
    if (exact && !std::ranges::equal(again, record)) fail("a value packs to other bytes");
  });
}

}  // namespace

// A byte says which rank of how many receives; then packets: sender, length in a byte, bytes.
void take_packets(input contents) {
  if (contents.empty()) return;
  const auto size = static_cast<rank_t>(2 + contents[0] % 7);
  receiving_rank rank(static_cast<rank_t>(contents[0] / 7 % size), size);
  contents = contents.subspan(1);
  while (contents.size() >= 2) {
    const auto from = static_cast<rank_t>(contents[0] % size);
    const auto length = std::min<std::size_t>(contents[1], contents.size() - 2);
    const auto packet = std::as_bytes(contents.subspan(2, length));
    contents = contents.subspan(2 + length);
    // What broke a contract poisons the world; here the rank goes on, to see more.
    may_violate([&] { rank.arrived(from, packet); });
  }
}

void take_records(input contents) {
  // In memory of its own: one byte too many is seen.
  const std::vector<std::uint8_t> copy(contents.begin(), contents.end());
  const auto all = std::as_bytes(std::span(copy));
  may_violate([&] {
    const am::record_batch batch(all);
    std::size_t records = 0, length = 0;
    for (const auto record : batch) {
      ++records;
      length += record.size();
      unpack_as<std::string>(record);
    }
    if (records != batch.size() || length > all.size()) fail("records beyond their buffer");
  });
  unpack_as<std::uint64_t>(all);
  unpack_as<std::vector<std::uint32_t>>(all);
  unpack_as<std::vector<std::string>>(all);
  unpack_as<std::tuple<std::uint8_t, std::string, std::pair<std::uint16_t, std::vector<char>>>>(
      all);
  unpack_as<std::map<std::string, std::uint64_t>>(all, false);  // equal keys are kept once
  unpack_as<std::set<std::vector<std::uint8_t>>>(all, false);
}

}  // namespace cairn::fuzz
