// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include <cairn/core/world.hpp>

namespace cairn::algo {

/// The sentence of the lowest rank that has one, on every rank. Collective.
[[nodiscard]] inline std::optional<std::string> first_sentence(world& w, const std::string& mine) {
  for (const auto& said : w.all_gather_bytes(std::as_bytes(std::span(mine)))) {
    if (said.empty()) continue;
    return std::string(reinterpret_cast<const char*>(said.data()), said.size());
  }
  return std::nullopt;
}

}  // namespace cairn::algo
