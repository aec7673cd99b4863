// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

#include <cairn/base/random.hpp>
#include <cairn/base/types.hpp>
#include <cairn/core/world.hpp>

namespace cairn::algo {

template <class Id>
struct frequent {
  Id value = no_vertex<Id>;
  std::uint64_t estimate = 0;  ///< how often it occurs among the values, times the sample's size
};

/// The most frequent value in a sample of this rank's values; no_vertex if there are none. It is
/// deterministic, but may not be the most frequent value of all.
///
/// Work      O(1): some microseconds; ten times as long if no value has half of the sample
template <class Id>
[[nodiscard]] frequent<Id> frequent_value(std::span<const Id> values) {
  if (values.empty()) return {};
  std::array<Id, 1024> sample;
  random64 draw(values.size());
  for (auto& s : sample) s = values[draw.below(values.size())];
  Id candidate = sample[0];  // Boyer-Moore majority vote
  std::size_t votes = 0;
  for (const Id s : sample) {
    if (votes == 0) candidate = s;
    votes += s == candidate ? 1 : std::size_t{0} - 1;
  }
  const auto with_estimate = [&](Id value, std::ptrdiff_t times) {
    return frequent<Id>{value, static_cast<std::uint64_t>(times) * values.size()};
  };
  auto times = std::count(sample.begin(), sample.end(), candidate);
  if (2 * static_cast<std::size_t>(times) > sample.size()) return with_estimate(candidate, times);
  std::sort(sample.begin(), sample.end());
  times = 0;
  for (auto at = sample.begin(); at != sample.end();) {
    const auto end = std::upper_bound(at, sample.end(), *at);
    if (end - at > times) {
      times = end - at;
      candidate = *at;
    }
    at = end;
  }
  return with_estimate(candidate, times);
}

/// The most frequent value by the sums of the ranks' estimates. Collective.
template <class Id>
[[nodiscard]] Id most_frequent(world& w, const frequent<Id>& mine) {
  std::map<Id, std::uint64_t> estimates;
  for (const auto& f : w.all_gather(mine)) estimates[f.value] += f.estimate;
  const auto by_estimate = [](const auto& a, const auto& b) { return a.second < b.second; };
  return std::max_element(estimates.begin(), estimates.end(), by_estimate)->first;
}

}  // namespace cairn::algo
