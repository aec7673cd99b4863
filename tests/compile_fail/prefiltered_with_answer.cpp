// SPDX-License-Identifier: Apache-2.0
// expected: `prefiltered` is for single-cell, fire-and-forget operators with `wanted`
#include <cairn/activity/executor.hpp>
#include <cairn/pgas/vertex_map.hpp>

template <class Result>
struct add_one {
  struct message {
    std::uint32_t id;
  };
  static constexpr bool prefiltered = true;
  const cairn::pgas::vertex_map<int>& map;

  auto cell(const message& m) const { return map.at(m.id); }
  bool wanted(int x, const message&) const { return x == 0; }
  Result attempt(auto x, const message&) const { return static_cast<Result>(x.add(1)); }
  void answer(const message&, const cairn::activity::outcome<int>&) const {}
};

template class cairn::activity::executor<add_one<void>>;
#ifdef MUST_NOT_COMPILE
template class cairn::activity::executor<add_one<int>>;
#endif
