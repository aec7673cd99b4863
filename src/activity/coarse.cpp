// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <cairn/activity/coarse.hpp>
#include <cairn/base/error.hpp>

namespace cairn::activity {

mechanism resolve_single_cell(world& w, mechanism asked) {
  const bool one_writer = w.workers() == 1;
  switch (asked) {
    case mechanism::automatic:
      if (one_writer) return mechanism::plain;
      return w.transactions().works ? mechanism::htm : mechanism::atomics;
    case mechanism::plain:
      if (!one_writer) {
        throw usage_error("mechanism plain needs one writer per element: use --threads 1");
      }
      return asked;
    case mechanism::htm:
      if (!w.transactions().works) {
        throw usage_error("mechanism htm cannot run here: " + w.transactions().reason);
      }
      return asked;
    default:
      return asked;
  }
}

}  // namespace cairn::activity
