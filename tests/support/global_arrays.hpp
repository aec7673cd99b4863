// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <cairn/base/random.hpp>
#include <cairn/pgas/distribution.hpp>
#include <cairn/task/task.hpp>

namespace cairn::support {

inline constexpr pgas::distribution all_distributions[] = {
    pgas::distribution::partition, pgas::distribution::local, pgas::distribution::remote,
    pgas::distribution::cyclic, pgas::distribution::hashed};

/// A value of element i whose bytes differ between elements and between salts.
template <class T>
T value_at(std::uint64_t i, std::uint64_t salt) {
  T x;
  auto* const to = reinterpret_cast<unsigned char*>(&x);
  for (std::size_t k = 0; k < sizeof x; ++k) {
    to[k] = static_cast<unsigned char>(mix64(mix64(i + 1) + salt * 1000 + k));
  }
  return x;
}

inline task::task<> nothing() { co_return; }

}  // namespace cairn::support
