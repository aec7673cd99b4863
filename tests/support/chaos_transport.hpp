// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <cairn/base/random.hpp>
#include <cairn/net/transport.hpp>

namespace cairn::support {

/// A transport that delays and reorders the packets of another transport and refuses some sends,
/// depending on the seed and the timing of threads. At times no packet arrives for a while, and
/// then all arrive at once. With seeds 3, 7, 11, ... one rank rarely polls. Packets are neither
/// lost nor duplicated nor held forever.
class chaos_transport final : public net::transport {
 public:
  chaos_transport(std::unique_ptr<net::transport> below, std::uint64_t seed)
      : below_(std::move(below)),
        slow_(seed % 4 == 3 && seed / 4 % static_cast<std::uint64_t>(below_->size()) ==
                                   static_cast<std::uint64_t>(below_->self())),
        random_(random64(seed).stream(static_cast<std::uint64_t>(below_->self()))) {}

  [[nodiscard]] rank_t self() const noexcept override { return below_->self(); }
  [[nodiscard]] rank_t size() const noexcept override { return below_->size(); }
  [[nodiscard]] std::size_t max_packet() const noexcept override { return below_->max_packet(); }
  [[nodiscard]] std::size_t best_packet() const noexcept override { return below_->best_packet(); }
  [[nodiscard]] std::size_t best_packet_to(rank_t to) const noexcept override {
    return below_->best_packet_to(to);
  }
  [[nodiscard]] const net::packet_steps& steps_to(rank_t to) const noexcept override {
    return below_->steps_to(to);
  }
  [[nodiscard]] bool flushed() override { return below_->flushed(); }

  [[nodiscard]] bool send(rank_t to, std::span<const std::byte> packet) override {
    return random_.below(8) != 0 && below_->send(to, packet);
  }

  std::size_t poll(const sink& deliver) override {
    if (slow_ && random_.below(4) != 0) return 0;
    below_->poll([&](rank_t from, std::span<const std::byte> packet) {
      held_.push_back({from, {packet.begin(), packet.end()}});
    });
    if (quiet_polls_ == 0 && random_.below(512) == 0) quiet_polls_ = 1 + random_.below(64);
    const bool burst = quiet_polls_ == 1;
    if (quiet_polls_ > 0 && --quiet_polls_ > 0) return 0;
    std::size_t taken = 0;
    while (!held_.empty() && (burst || random_.below(4) != 0)) {
      std::swap(held_[random_.below(held_.size())], held_.back());
      const auto out = std::move(held_.back());
      held_.pop_back();
      deliver(out.from, out.packet);
      ++taken;
    }
    return taken;
  }

 private:
  struct held_packet {
    rank_t from;
    std::vector<std::byte> packet;
  };

  std::unique_ptr<net::transport> below_;
  const bool slow_;
  random64 random_;
  std::uint64_t quiet_polls_ = 0;  // number of polls until all held packets arrive at once
  std::vector<held_packet> held_;
};

}  // namespace cairn::support
