// SPDX-License-Identifier: Apache-2.0
// expected: a single-cell operator would not see the markers of an owned_map
#include <cairn/activity/executor.hpp>
#include <cairn/dtx/owned_map.hpp>

struct add_one {
  struct message {
    std::uint32_t id;
  };
#ifdef MUST_NOT_COMPILE
  const cairn::dtx::owned_vertex_map<std::uint64_t>& map;
#else
  const cairn::pgas::vertex_map<std::uint64_t>& map;
#endif

  auto cell(const message& m) const { return map.at(m.id); }
  void attempt(auto x, const message&) const { x.add(1); }
};

template class cairn::activity::executor<add_one, cairn::activity::mechanism::plain>;
