// SPDX-License-Identifier: Apache-2.0
// The rank and the worker of a send cannot be swapped.
// expected: rank_t
// expected: worker_t
#include <cstdint>

#include <cairn/am/channel.hpp>
#include <cairn/core/world.hpp>

void send_one(cairn::world& w, cairn::am::channel<std::uint64_t>& messages) {
  const cairn::rank_t to = w.size() - 1;
#ifdef MUST_NOT_COMPILE
  messages.send(to, cairn::main_worker, 1);
#else
  messages.send(cairn::main_worker, to, 1);
#endif
}
