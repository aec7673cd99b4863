// SPDX-License-Identifier: Apache-2.0
// expected: this mechanism cannot keep the operator's promise
#include <cairn/activity/executor.hpp>
#include <cairn/pgas/vertex_map.hpp>

struct swap_values {
  struct message {
    std::uint32_t a, b;
  };
  const cairn::pgas::vertex_map<int>& map;

  void elements(const message& m, auto&& each) const {
    each(map.at(m.a));
    each(map.at(m.b));
  }
  void attempt(auto& tx, const message& m) const {
    const int a = tx.read(map, m.a);
    tx.write(map, m.a, tx.read(map, m.b));
    tx.write(map, m.b, a);
  }
};

#ifdef MUST_NOT_COMPILE
using cairn::activity::mechanism;
template class cairn::activity::executor<swap_values, mechanism::atomics>;
#else
using cairn::activity::mechanism;
template class cairn::activity::executor<swap_values, mechanism::htm>;
template class cairn::activity::executor<swap_values, mechanism::stm>;
template class cairn::activity::executor<swap_values>;
#endif
