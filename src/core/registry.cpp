// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <cairn/core/registry.hpp>

namespace cairn {

const registry::entry* registry::look_up(std::uint32_t number) const noexcept {
  const auto found = std::ranges::lower_bound(live_, number, {}, &entry::number);
  return found != live_.end() && found->number == number ? &*found : nullptr;
}

}  // namespace cairn
