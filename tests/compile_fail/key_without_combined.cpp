// SPDX-License-Identifier: Apache-2.0
// expected: `key` is for fire-and-forget operators with `combined`
#include <cairn/activity/executor.hpp>
#include <cairn/pgas/vertex_map.hpp>

struct step {
  std::uint32_t id;
  int count;
};
struct together {
  using value_type = step;
  static step identity() { return {0, 0}; }
  static step combine(const step& a, const step& b) { return {a.id, a.count + b.count}; }
};

struct count {
  using message = step;
  const cairn::pgas::vertex_map<int>& map;

  auto cell(const message& m) const { return map.at(m.id); }
  std::uint64_t key(const message& m) const { return m.id; }
  void attempt(auto x, const message& m) const { x.add(m.count); }
};
struct combined_count : count {
  using combined = together;
};

template class cairn::activity::executor<combined_count>;
#ifdef MUST_NOT_COMPILE
template class cairn::activity::executor<count>;
#endif
