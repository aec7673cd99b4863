// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <cairn/base/aggregator.hpp>

namespace cairn {

/// The law that aggregator A violates on these samples, or "" if it violates none. For tests of
/// your own aggregators. Checks all pairs and triples.
///
/// equal     compares two values; pass one with a tolerance for values that round
template <aggregator A, class Equal = std::equal_to<>>
[[nodiscard]] std::string broken_law(const std::vector<typename A::value_type>& samples,
                                     Equal equal = {}) {
  for (const auto& a : samples) {
    if (!equal(A::combine(A::identity(), a), a)) return "identity on the left";
    if (!equal(A::combine(a, A::identity()), a)) return "identity on the right";
  }
  for (const auto& a : samples) {
    for (const auto& b : samples) {
      if (!equal(A::combine(a, b), A::combine(b, a))) return "commutativity";
      auto sum = a;
      combine_into<A>(sum, b);
      if (!equal(sum, A::combine(a, b))) return "combining in place";
      for (const auto& c : samples) {
        if (!equal(A::combine(A::combine(a, b), c), A::combine(a, A::combine(b, c)))) {
          return "associativity";
        }
      }
    }
  }
  return "";
}

}  // namespace cairn
