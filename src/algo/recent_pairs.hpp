// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <cairn/base/random.hpp>
#include <cairn/base/types.hpp>

namespace cairn::algo {

/// A cache of pairs that grows with their number up to 2^16: insert() may return true again for a
/// pair, and returns true the first time.
template <class Id>
class recent_pairs {
 public:
  using pair = std::pair<Id, Id>;

  bool insert(const pair& p) {
    if (stored_ == slots_.size()) grow();
    auto& slot = slots_[(p.first ^ mix64(p.second)) & (slots_.size() - 1)];
    if (slot == p) return false;
    slot = p;
    ++stored_;
    return true;
  }

 private:
  static constexpr std::size_t min_slots = 256, max_slots = std::size_t{1} << 16;

  [[gnu::noinline]] void grow() {
    stored_ = 0;
    if (slots_.size() == max_slots) return;
    slots_.assign(slots_.empty() ? min_slots : 4 * slots_.size(), {no_vertex<Id>, no_vertex<Id>});
  }

  std::vector<pair> slots_;
  std::size_t stored_ = 0;  // pairs since the cache has grown
};

}  // namespace cairn::algo
