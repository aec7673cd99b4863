// SPDX-License-Identifier: Apache-2.0
#include <cairn/base/contract.hpp>
#include <cairn/pgas/completion.hpp>

namespace cairn::pgas {

void expect_no_fault(access_fault fault) {
  switch (fault) {
    case access_fault::none:
      return;
    case access_fault::no_array:
      CAIRN_EXPECTS(false, "the global array was freed, or never allocated");
      return;
    case access_fault::out_of_range:
      CAIRN_EXPECTS(false, "an element beyond the end of a global array");
      return;
    case access_fault::no_full_empty:
      CAIRN_EXPECTS(false, "the global array was allocated without full/empty elements");
      return;
    case access_fault::freed_meanwhile:
      CAIRN_EXPECTS(false, "the global array was freed while a task waited for an element");
  }
}

}  // namespace cairn::pgas
