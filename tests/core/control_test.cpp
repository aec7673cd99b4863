// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <stdexcept>

#include <gtest/gtest.h>

#include <cairn/core/control.hpp>

namespace cairn::control_test {
namespace {

/// Rank 0 of four; sending to one of the others may fail.
class broken_transport final : public net::transport {
 public:
  explicit broken_transport(rank_t unreachable) : unreachable_(unreachable) {}
  [[nodiscard]] rank_t self() const noexcept override { return 0; }
  [[nodiscard]] rank_t size() const noexcept override { return 4; }
  [[nodiscard]] std::size_t max_packet() const noexcept override { return 4096; }
  [[nodiscard]] std::size_t best_packet() const noexcept override { return 4096; }
  [[nodiscard]] bool send(rank_t to, std::span<const std::byte> /*packet*/) override {
    if (to == unreachable_) throw std::runtime_error("no way");
    informed.insert(to);
    return true;
  }
  std::size_t poll(const sink& /*deliver*/) override { return 0; }

  std::set<rank_t> informed;

 private:
  const rank_t unreachable_;
};

/// Poisons a world over `net`; returns whether all others are said to know it.
bool poison_over(broken_transport& net) {
  fragments cutting(net.max_packet());
  obs::counters counters(1);
  obs::trace trace(1, 8, [] { return std::uint64_t{1}; });
  outbox out(net, cutting, counters, trace);
  task::spin_lock network_lock;
  const auto pool = task::make_threads({.workers = 1});
  control protocols(net, out, network_lock, *pool, counters);
  protocols.poison(0, "broken");
  EXPECT_TRUE(protocols.poisoned());
  return protocols.has_told_all();
}

TEST(Control, PoisonsRanksAfterOneThatCannotBeReached) {
  broken_transport net(1);
  EXPECT_FALSE(poison_over(net));
  EXPECT_EQ(net.informed, (std::set<rank_t>{2, 3}));
}

TEST(Control, PoisonsAllOthers) {
  broken_transport net(0);
  EXPECT_TRUE(poison_over(net));
  EXPECT_EQ(net.informed, (std::set<rank_t>{1, 2, 3}));
}

}  // namespace
}  // namespace cairn::control_test
