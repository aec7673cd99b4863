// SPDX-License-Identifier: Apache-2.0
// expected: it must not be noexcept
#include <cairn/activity/executor.hpp>
#include <cairn/pgas/vertex_map.hpp>

#ifdef MUST_NOT_COMPILE
#define HOW noexcept
#else
#define HOW
#endif

struct count_up {
  struct message {
    std::uint32_t v;
  };
  const cairn::pgas::vertex_map<std::uint64_t>& map;

  auto cell(const message& m) const { return map.at(m.v); }
  bool wanted(std::uint64_t, const message&) const { return true; }
  void attempt(auto cell, const message&) const HOW { cell.add(1); }
};

void use(cairn::activity::executor<count_up>& counts) {
  counts.spawn(cairn::main_worker, [](auto& send) { send({0}); });
}
