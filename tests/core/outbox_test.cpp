// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/core/outbox.hpp>

namespace cairn::outbox_test {
namespace {

/// Rank 0 of two, whose packets it keeps.
class recording_transport final : public net::transport {
 public:
  [[nodiscard]] rank_t self() const noexcept override { return 0; }
  [[nodiscard]] rank_t size() const noexcept override { return 2; }
  [[nodiscard]] std::size_t max_packet() const noexcept override { return 4096; }
  [[nodiscard]] std::size_t best_packet() const noexcept override { return 4096; }
  [[nodiscard]] bool send(rank_t /*to*/, std::span<const std::byte> packet) override {
    packet_header header;
    std::memcpy(&header, packet.data(), sizeof header);
    sequences.push_back(header.sequence);
    return true;
  }
  std::size_t poll(const sink& /*deliver*/) override { return 0; }

  std::vector<std::uint64_t> sequences;
};

// Otherwise a receiver that records takes a packet of a paused sender for its first one.
TEST(Outbox, NumbersPacketsAlsoWhileTheTraceIsPaused) {
  recording_transport net;
  fragments cutting(net.max_packet());
  obs::counters counters(1);
  obs::trace trace(1, 8, [] { return std::uint64_t{1}; });
  outbox out(net, cutting, counters, trace);
  for (const bool paused : {false, true, false}) {
    paused ? trace.pause() : trace.resume();
    buffer b(16);
    b.header() = {};
    out.send(main_worker, 1, b.packet());
  }
  EXPECT_EQ(net.sequences, (std::vector<std::uint64_t>{0, 1, 2}));
  const auto recorded = trace.of_worker(main_worker);
  ASSERT_EQ(recorded.size(), 2u);
  EXPECT_EQ(recorded[1].sequence, 2u);
}

}  // namespace
}  // namespace cairn::outbox_test
