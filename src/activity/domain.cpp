// SPDX-License-Identifier: Apache-2.0
#include <cairn/activity/domain.hpp>
#include <cairn/base/error.hpp>

namespace cairn::activity {
namespace {

mechanism resolve(world& w, const options& asked) {
  const bool one_writer = w.workers() == 1;
  const auto with_htm = [&] {
    return emulation_for(w, asked) || w.transactions().works ? mechanism::htm : mechanism::locks;
  };
  switch (asked.how) {
    case mechanism::automatic:
      return one_writer ? mechanism::plain : with_htm();
    case mechanism::plain:
      if (!one_writer) {
        throw usage_error("mechanism plain needs one writer per element: use --threads 1");
      }
      return mechanism::plain;
    case mechanism::atomics:
      throw usage_error(
          "mechanism atomics cannot change several elements at once: use htm or locks");
    case mechanism::htm:
      return with_htm();
    case mechanism::locks:
      break;
  }
  return mechanism::locks;
}

}  // namespace

domain::domain(world& w, const options& opt) : world_(w), options_(opt) {
  options_.how = resolve(w, opt);
}

}  // namespace cairn::activity
