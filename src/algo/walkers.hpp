// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <cairn/base/random.hpp>

// Sources of the walkers that a worker moves together. Each function returns next(x), which assigns
// the next walker to x or returns false.

namespace cairn::algo {

/// The walkers with numbers in [number, last) that start at this rank. The others are sent to the
/// owners of their starts. Walker::of(key, number) creates a walker.
template <class Walker, class View>
auto walkers_from(std::uint64_t number, std::uint64_t last, std::uint64_t key,
                  std::uint64_t num_vertices, const View& view, auto& send) {
  return [=, &view, &send](Walker& x) mutable {
    while (number < last) {
      x = Walker::of(key, number++);
      x.at = static_cast<decltype(x.at)>(x.draws.below(num_vertices));
      if (view.owns(x.at)) return true;
      send(view.owner(x.at), x);
    }
    return false;
  };
}

/// The walkers of a batch of messages.
template <class Walker>
auto walkers_of(std::span<const Walker> batch) {
  return [batch, i = std::size_t{0}](Walker& x) mutable {
    if (i == batch.size()) return false;
    x = batch[i++];
    return true;
  };
}

}  // namespace cairn::algo
