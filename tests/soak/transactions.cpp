// SPDX-License-Identifier: Apache-2.0
//
// transactions [N]: N (10^8) software transactions on threads, judged by the cycle checker. Ends
// with 0 if there was an order for all of them.
#include <cstdlib>
#include <iostream>

#include <support/transaction_soak.hpp>

int main(int argc, char** argv) {
  using namespace cairn::support;
  const soak_options opt{.transactions =
                             argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100'000'000};
  const auto result = transaction_soak<>(opt).run();
  std::cout << result.committed << " transactions committed, " << result.left
            << " attempts were left, " << result.alone << " transactions ran alone: "
            << (result.complaint.empty() ? "0 cycles, 0 inconsistent reads" : result.complaint)
            << '\n';
  return result.complaint.empty() ? 0 : 1;
}
