// SPDX-License-Identifier: Apache-2.0
#include <cairn/activity/coarse.hpp>
#include <cairn/base/error.hpp>

namespace cairn::activity {

mechanism resolve_single_cell(world& w, const options& asked) {
  const bool one_writer = w.workers() == 1;
  const auto has_htm = [&] { return emulation_for(w, asked) || w.transactions().works; };
  switch (asked.how) {
    case mechanism::automatic:
      if (one_writer) return mechanism::plain;
      return has_htm() ? mechanism::htm : mechanism::atomics;
    case mechanism::plain:
      if (!one_writer) {
        throw usage_error("mechanism plain needs one writer per element: use --threads 1");
      }
      return mechanism::plain;
    case mechanism::htm:
      return has_htm() ? mechanism::htm : mechanism::atomics;
    case mechanism::stm:
      throw usage_error(
          "mechanism stm is for operators that change several elements: use atomics or htm");
    default:
      return asked.how;
  }
}

}  // namespace cairn::activity
