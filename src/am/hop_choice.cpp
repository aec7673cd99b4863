// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <cairn/am/hop_choice.hpp>

namespace cairn::am {
namespace {

// A hop costs its messages one more latency, during which a rank could send so many buffers.
constexpr double latency_in_buffers = 4;
// Destinations after which the first estimate counts for 1/e; refusals after which the measured
// one does.
constexpr double learning_window = 256, forgetting_window = 64;

}  // namespace

bool hop_choice::through_hops(const unsent_blocks& l, std::size_t buffer_bytes) noexcept {
  if (l.blocks <= l.hops) return false;
  const auto spared = (1 - opened_) * static_cast<double>(l.blocks - l.hops) - latency_in_buffers;
  const bool pays =
      spared * static_cast<double>(buffer_bytes) > static_cast<double>(l.detour_bytes);
  if (!pays) opened_ += (first_opened - opened_) / forgetting_window;
  return pays;
}

void hop_choice::forwarded(const forwarded_buffer& by_this_rank) noexcept {
  const auto all = static_cast<double>(by_this_rank.destinations);
  const auto part = std::min(1.0, all / learning_window);
  opened_ += part * (static_cast<double>(by_this_rank.opened) / all - opened_);
}

}  // namespace cairn::am
