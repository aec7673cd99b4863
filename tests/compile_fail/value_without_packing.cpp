// SPDX-License-Identifier: Apache-2.0
// expected: values travel as their bytes: specialise cairn::packing
#include <set>
#include <vector>

#include <cairn/core/world.hpp>

struct links {
  std::vector<std::set<int>> of;
};
#ifndef MUST_NOT_COMPILE
template <>
struct cairn::packing<links> {
  static void pack(std::vector<std::byte>& to, const links& all) { cairn::pack(to, all.of); }
  static links unpack(std::span<const std::byte>& from) {
    return {cairn::unpack<std::vector<std::set<int>>>(from)};
  }
};
#endif

std::vector<links> everywhere(cairn::world& w, const links& mine) { return w.all_gather(mine); }
