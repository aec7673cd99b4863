// SPDX-License-Identifier: Apache-2.0
//
// distributed_transactions [N]: transfers over simulated ranks with the seeds 1 ... N (1,000), by
// every mechanism in turn. Ends with 0 if no money was lost and no marker left.
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>

#include <support/on_ranks.hpp>
#include <support/transfers.hpp>

int main(int argc, char** argv) {
  using namespace cairn;
  using activity::mechanism;
  const std::uint64_t seeds = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000;
  const mechanism mechanisms[] = {mechanism::automatic, mechanism::htm, mechanism::locks,
                                  mechanism::one_lock, mechanism::stm};
  std::uint64_t commits = 0, refusals = 0, requeued = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    std::string wrong;
    try {
      const auto ranks = static_cast<rank_t>(1 + seed % 6);
      support::on_simulated_ranks(ranks, 1 + static_cast<int>(seed / 6 % 2), seed, [&](world& w) {
        activity::options opt{.mechanism = mechanisms[seed % 5], .grain = 1 + seed % 7};
        if (opt.mechanism == mechanism::htm)
          opt.emulate = activity::emulation_options{.seed = seed};
        const auto said = support::transfer_everywhere(
            w, {.activity = opt, .transactions = 80, .accounts = 1 + seed % 5, .seed = seed});
        if (w.rank() == 0) wrong = said;
        commits += w.counters().total(obs::counter::dtx_commits);
        refusals += w.counters().total(obs::counter::dtx_refusals);
        requeued += w.counters().total(obs::counter::requeued);
      });
    } catch (const std::exception& e) {
      wrong = e.what();
    }
    if (!wrong.empty()) {
      std::cout << "seed " << seed << ": " << wrong << '\n';
      return 1;
    }
  }
  std::cout << seeds << " seeds: " << commits << " transactions over ranks committed, " << refusals
            << " claims were refused, " << requeued << " local attempts put off\n";
}
