// SPDX-License-Identifier: Apache-2.0
//
// cancel N: N searches over the ranks of this job are cancelled at random moments, and the next is
// right. Takes settings too. Ends with 0 if all was right.
#include <span>
#include <stdexcept>
#include <string>

#include <cairn/base/error.hpp>
#include <cairn/core/launch.hpp>

#include "support/cancelled_searches.hpp"

namespace {

using namespace cairn;

int body(world& w, std::span<const std::string> arguments) {
  if (arguments.size() != 1) throw usage_error("cancel N");
  const auto moments = std::stoi(arguments[0]);
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const auto wrong =
        support::cancel_searches(w, seed, moments / 4, support::cancelled_by::threads_and_counts);
    if (!wrong.empty()) throw std::runtime_error("seed " + std::to_string(seed) + ": " + wrong);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return cairn::launch(argc, argv, body); }
