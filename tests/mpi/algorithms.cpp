// SPDX-License-Identifier: Apache-2.0
//
// algorithms N [SEED [NAME...]]: N random graphs over the ranks of this job, in equal blocks or
// blocks of random sizes, each by the algorithms NAME or by every one, with a mechanism drawn for
// it, judged by the references. Graph i is that of seed SEED + i (SEED is 1 if not given): what is
// told of a wrong result runs again by itself as `algorithms 1 SEED [NAME...]`. Takes settings too.
// Ends with 0 if all was right.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <cairn/algo/algorithm.hpp>
#include <cairn/base/error.hpp>
#include <cairn/core/launch.hpp>

#include <support/any_algorithm.hpp>
#include <support/random_graphs.hpp>

namespace {

using namespace cairn;

constexpr auto usage = "algorithms N [SEED [NAME...]]";

using chosen_algorithms = std::vector<const algo::algorithm*>;

void run_graph(world& w, std::uint64_t seed, const chosen_algorithms& chosen) {
  random64 random(seed);
  const auto graph =
      random.below(4) == 0 ? support::two_halves(random) : support::random_graph(random());
  for (const auto* const a : chosen) {
    support::any_run run(w, *a, graph, random);
    const auto failed = [&](const std::string& run_name) {
      return std::runtime_error("seed " + std::to_string(seed) + ": " + run_name);
    };
    try {
      if (const auto wrong = run.judge(); !wrong.empty()) throw failed(wrong);
    } catch (const peer_failure&) {
      throw;
    } catch (const std::logic_error& e) {
      throw failed(run.describe() + ": " + e.what());
    }
  }
}

std::uint64_t number(const std::string& text) {
  std::uint64_t value = 0;
  const auto end = text.data() + text.size();
  if (text.empty() || std::from_chars(text.data(), end, value).ptr != end) {
    throw usage_error("'" + text + "' is not a number: " + usage);
  }
  return value;
}

chosen_algorithms named(std::span<const std::string> names) {
  if (names.empty()) return algo::algorithms();
  chosen_algorithms chosen;
  for (const auto& name : names) {
    const auto& all = algo::algorithms();
    const auto found = std::ranges::find(all, name, [](const auto* a) { return a->info().name; });
    if (found == all.end()) throw usage_error("there is no algorithm '" + name + "': " + usage);
    chosen.push_back(*found);
  }
  return chosen;
}

int body(world& w, std::span<const std::string> arguments) {
  if (arguments.empty()) throw usage_error(usage);
  const auto graphs = number(arguments[0]);
  const auto first = arguments.size() > 1 ? number(arguments[1]) : 1;
  const auto chosen = named(arguments.subspan(std::min<std::size_t>(2, arguments.size())));
  for (std::uint64_t i = 0; i < graphs; ++i) {
    run_graph(w, first + i, chosen);
    if (w.rank() != 0 || (i + 1) % 1'000 != 0) continue;
    std::printf("%llu graphs\n", static_cast<unsigned long long>(i + 1));
    std::fflush(stdout);
  }
  if (w.rank() == 0) {
    std::printf("%llu graphs from seed %llu: right by %zu algorithms\n",
                static_cast<unsigned long long>(graphs), static_cast<unsigned long long>(first),
                chosen.size());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return cairn::launch(argc, argv, body); }
