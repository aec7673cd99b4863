// SPDX-License-Identifier: Apache-2.0
#include <cairn/base/contract.hpp>
#include <cairn/pgas/completion.hpp>

namespace cairn::pgas {

namespace {

const char* text_of(access_fault fault) noexcept {
  switch (fault) {
    case access_fault::none:
    case access_fault::stopped:
      break;
    case access_fault::no_array:
      return "the global array was freed, or never allocated";
    case access_fault::out_of_range:
      return "an element beyond the end of a global array";
    case access_fault::no_full_empty:
      return "the global array was allocated without full/empty elements";
    case access_fault::freed_meanwhile:
      return "the global array was freed while a task waited for an element";
  }
  return "";
}

}  // namespace

void throw_fault(access_fault fault) {
  cairn::detail::broken_contract("expect_no_fault", "fault == access_fault::none", text_of(fault));
}

}  // namespace cairn::pgas
