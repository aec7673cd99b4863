// SPDX-License-Identifier: Apache-2.0
// expected: this mechanism cannot keep the operator's promise
#include <cairn/activity/executor.hpp>
#include <cairn/pgas/vertex_map.hpp>

struct add_one {
  struct message {
    std::uint32_t id;
  };
  const cairn::pgas::vertex_map<int>& map;

  auto cell(const message& m) const { return map.at(m.id); }
  bool wanted(int, const message&) const { return true; }
  void attempt(auto x, const message&) const { x.add(1); }
};

using cairn::activity::mechanism;
#ifdef MUST_NOT_COMPILE
template class cairn::activity::executor<add_one, mechanism::stm>;
#else
template class cairn::activity::executor<add_one, mechanism::one_lock>;
template class cairn::activity::executor<add_one>;
#endif
