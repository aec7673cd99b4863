// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <cairn/base/random.hpp>
#include <cairn/net/transport.hpp>

namespace cairn::net {

/// The k-th packet from one rank to another: size and bytes follow from the arguments alone, so
/// the receiver knows what must come. Sizes 0 .. most, often small, sometimes exactly most.
inline std::vector<std::byte> packet_number(std::uint64_t k, rank_t from, rank_t to,
                                            std::size_t max_bytes) {
  auto draw =
      random64(static_cast<std::uint64_t>(from) << 32 | static_cast<std::uint64_t>(to)).stream(k);
  const auto kind = draw.below(8);
  const auto size = kind == 0  ? max_bytes
                    : kind < 4 ? draw.below(std::min<std::size_t>(max_bytes, 100))
                               : draw.below(max_bytes + 1);
  std::vector<std::byte> bytes(size);
  for (auto& b : bytes) b = static_cast<std::byte>(draw());
  return bytes;
}

struct sink_threw {};

/// Sends `count` packets from this rank to every other while it takes in theirs, which must come
/// whole and in order, also after the sink has thrown. Returns what was wrong; empty if nothing.
/// Called by every rank.
///
/// Work      O(ranks x count x max_packet)
inline std::string exchange_all_pairs(transport& net, std::uint64_t count) {
  const auto ranks = static_cast<std::size_t>(net.size());
  std::vector<std::uint64_t> sent(ranks), received(ranks);
  std::vector<std::vector<std::byte>> next(ranks);
  std::string wrong;
  const auto check = [&](rank_t from, std::span<const std::byte> packet) {
    if (from < 0 || static_cast<std::size_t>(from) >= ranks) {
      wrong = "a packet came from rank " + std::to_string(from);
      return;
    }
    const auto k = received[static_cast<std::size_t>(from)]++;
    const auto wanted = packet_number(k, from, net.self(), net.max_packet());
    if (wrong.empty() && !std::equal(packet.begin(), packet.end(), wanted.begin(), wanted.end())) {
      wrong = "packet " + std::to_string(k) + " from " + std::to_string(from) + " to " +
              std::to_string(net.self()) + " is another";
    }
    if (k % 8 == 5) throw sink_threw();
  };
  const auto all_came = [&] {
    for (std::size_t r = 0; r < ranks; ++r) {
      if (static_cast<rank_t>(r) != net.self() && received[r] < count) return false;
    }
    return true;
  };
  for (bool all_sent = false; !all_sent || !net.flushed() || !all_came();) {
    all_sent = true;
    for (std::size_t r = 0; r < ranks; ++r) {
      const auto to = static_cast<rank_t>(r);
      if (to == net.self() || sent[r] == count) continue;
      all_sent = false;
      if (next[r].empty()) next[r] = packet_number(sent[r], net.self(), to, net.max_packet());
      if (!net.send(to, next[r])) continue;
      next[r].clear();
      ++sent[r];
    }
    try {
      if (net.poll(check) == 0) std::this_thread::yield();
    } catch (const sink_threw&) {
    }
  }
  return wrong;
}

/// Runs f(rank) on one thread per rank.
template <class F>
void on_threads(rank_t ranks, F&& f) {
  std::vector<std::thread> threads;
  for (rank_t r = 0; r < ranks; ++r) threads.emplace_back([&f, r] { f(r); });
  for (auto& t : threads) t.join();
}

}  // namespace cairn::net
