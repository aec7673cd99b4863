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

/// Delays and reorders packets and refuses some sends, over any transport, depending on the seed
/// (and the threads' timing). It neither loses nor duplicates packets, and holds none forever: each
/// poll may deliver any packet that it holds.
class chaos_transport final : public net::transport {
 public:
  chaos_transport(std::unique_ptr<net::transport> below, std::uint64_t seed)
      : below_(std::move(below)), random_(seed, static_cast<std::uint64_t>(below_->self())) {}

  [[nodiscard]] rank_t self() const noexcept override { return below_->self(); }
  [[nodiscard]] rank_t size() const noexcept override { return below_->size(); }
  [[nodiscard]] std::size_t max_packet() const noexcept override { return below_->max_packet(); }
  [[nodiscard]] std::size_t best_packet() const noexcept override { return below_->best_packet(); }
  [[nodiscard]] bool flushed() override { return below_->flushed(); }

  [[nodiscard]] bool send(rank_t to, std::span<const std::byte> packet) override {
    return random_.below(8) != 0 && below_->send(to, packet);
  }

  std::size_t poll(const sink& deliver) override {
    below_->poll([&](rank_t from, std::span<const std::byte> packet) {
      held_.push_back({from, {packet.begin(), packet.end()}});
    });
    std::size_t taken = 0;
    while (!held_.empty() && random_.below(4) != 0) {
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
  random64 random_;
  std::vector<held_packet> held_;
};

}  // namespace cairn::support
