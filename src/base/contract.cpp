// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>

#include <cairn/base/contract.hpp>

namespace cairn::detail {

void broken_contract(const char* function, const char* condition, std::string_view detail) {
  std::string text = std::string(function) + ": expected " + condition;
  if (!detail.empty()) text += " (" + std::string(detail) + ")";
  throw contract_violation(text);
}

// An internal assertion may fail inside a handler on any thread, when the state is already
// inconsistent. Unwinding is then unsafe, so this function ends the process; no other place does.
void broken_assertion(const char* file, int line, const char* condition) {
  std::fprintf(stderr, "cairn: internal error at %s:%d: %s\n", file, line, condition);
  std::abort();
}

}  // namespace cairn::detail
