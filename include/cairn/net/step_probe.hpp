// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <cairn/base/types.hpp>
#include <cairn/net/transport.hpp>

namespace cairn::net {

/// Finds the steps of a transport that does not report them (packet_steps.hpp). The candidates are
/// the powers of two from 1 KiB to 32 KiB.
///
/// One rank sends a packet and another rank returns a packet of the same size. For each power of
/// two the first rank times a slightly smaller and a slightly larger packet alternately, so that a
/// disturbance of the machine affects both. The first round opens connections and is not counted.
/// A power of two is a step if the first quartile of the larger size exceeds the median of the
/// smaller size, and 1.15 times its first quartile times the ratio of the sizes. The first quartile
/// is used because disturbances only add time. With fewer than min_rounds rounds within the limit
/// no step is found.
///
/// A pure state machine: the caller sends what next() gives and reads the clock.
class step_probe {
 public:
  static constexpr std::size_t first_size = 1u << 10;
  static constexpr std::size_t num_sizes = 6;  // up to 32 KiB
  static constexpr std::size_t below = 128, above = 64;
  static constexpr std::size_t largest_size = (first_size << (num_sizes - 1)) + above;
  static constexpr std::size_t min_rounds = 5, max_rounds = 15;

  /// limit_ns   no packet is sent after this time
  explicit step_probe(std::uint64_t limit_ns) : limit_ns_(limit_ns) {}

  /// The size of the next packet to send at this time; nothing at the end.
  [[nodiscard]] std::optional<std::size_t> next(std::uint64_t now_ns);
  /// The answer to the last packet arrived at this time.
  void answered(std::uint64_t now_ns);

  /// Which powers of two, from first_size on, are steps: a bit for each.
  [[nodiscard]] std::uint32_t found() const;
  /// The largest packets before the steps that found() gives.
  [[nodiscard]] static std::vector<std::size_t> largest_before(std::uint32_t steps);

 private:
  static constexpr std::size_t num_probes = 2 * num_sizes;
  static std::size_t size_of(std::size_t probe) noexcept {
    const auto power = first_size << probe / 2;
    return probe % 2 == 0 ? power - below : power + above;
  }

  std::uint64_t limit_ns_;
  std::optional<std::uint64_t> started_ns_;
  std::uint64_t sent_ns_ = 0;
  std::size_t at_ = 0, round_ = 0;  // the next probe
  std::array<std::vector<std::uint64_t>, num_probes> took_ns_;
};

/// Rank `asker` probes its packets to `responder` for at most about limit_ns, or twice the time of
/// a message if that is more. Called by both, before any other packet; the others may wait
/// elsewhere.
///
/// Returns   at the asker what step_probe::found() gives, else 0
/// Throws    system_failure if for 10 s the other rank sends nothing, or nothing can be sent
[[nodiscard]] std::uint32_t probe_steps(transport& net, rank_t asker, rank_t responder,
                                        std::uint64_t limit_ns);

}  // namespace cairn::net
