// SPDX-License-Identifier: Apache-2.0
// Buffers for which an inbox has no memory.
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <utility>

#include <gtest/gtest.h>

#include <cairn/core/inbox.hpp>

#include <support/starving.hpp>

namespace cairn::out_of_memory_test {
namespace {

constexpr int many = 100;  // more than a queue has room for at first

class any_receiver final : public receiver {
 public:
  void deliver(worker_t /*k*/, rank_t /*from*/, std::span<std::byte> /*payload*/) override {}
  bool flush(worker_t /*k*/, flush_scope /*scope*/) override { return false; }
  [[nodiscard]] const message_counter& count(worker_t /*k*/) const noexcept override {
    return none_;
  }
  void abandon() noexcept override {}

 private:
  message_counter none_;
};

buffer of_channel(std::uint32_t number) {
  buffer b(16);
  b.header() = {.number = number};
  return b;
}

int take_all(inbox& from) {
  int taken = 0;
  while (const auto b = from.take()) taken += *b ? 1 : 0;
  return taken;
}

TEST(InboxOutOfMemory, KeepsBuffersOfANewChannelThatItCannotQueue) {
  registry channels;
  inbox arrived(channels);
  for (int i = 0; i < many; ++i) arrived.accept(of_channel(0));
  EXPECT_EQ(take_all(arrived), 0);
  any_receiver to;
  static_cast<void>(channels.add(to, channel_kind::standing));
  {
    const support::starving no_memory(0);
    EXPECT_THROW(arrived.requeue_aside(), std::bad_alloc);
  }
  arrived.requeue_aside();
  EXPECT_EQ(take_all(arrived), many);
  EXPECT_EQ(arrived.bytes(), 0u);
}

TEST(InboxOutOfMemory, KeepsBuffersThatItCannotSetAside) {
  registry channels;
  any_receiver to;
  static_cast<void>(channels.add(to, channel_kind::standing));
  inbox arrived(channels);
  for (int i = 0; i < many; ++i) arrived.accept(of_channel(0));
  {
    const support::starving little_memory(8 * sizeof(buffer));
    EXPECT_THROW(arrived.abandon_up_to(1), std::bad_alloc);
  }
  EXPECT_EQ(take_all(arrived), many);
  EXPECT_EQ(arrived.bytes(), 0u);
}

TEST(InboxOutOfMemory, DoesNotCountABufferThatItCannotQueue) {
  registry channels;
  any_receiver to;
  static_cast<void>(channels.add(to, channel_kind::standing));
  inbox arrived(channels);
  int accepted = 0;
  const auto accept_all = [&] {
    for (; accepted < many; ++accepted) {
      auto b = of_channel(0);
      const support::starving no_memory(0);
      arrived.accept(std::move(b));
    }
  };
  EXPECT_THROW(accept_all(), std::bad_alloc);
  EXPECT_EQ(take_all(arrived), accepted);
  EXPECT_EQ(arrived.bytes(), 0u);
}

}  // namespace
}  // namespace cairn::out_of_memory_test
