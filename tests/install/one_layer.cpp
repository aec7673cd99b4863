// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <cairn/base/contract.hpp>

// Needs the lowest library alone: it links nothing of the layers above.
int main() {
  try {
    CAIRN_EXPECTS(1 + 1 == 3, "arithmetic");
  } catch (const cairn::contract_violation& e) {
    return std::string(e.what()).find("1 + 1 == 3") == std::string::npos;
  }
  return 1;
}
