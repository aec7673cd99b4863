// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include <cairn/algo/verify_pagerank.hpp>

#include <support/dist_graph.hpp>
#include <support/places.hpp>
#include <support/random_graphs.hpp>

namespace cairn::algo::verify_pagerank_test {
namespace {

template <class Real>
using result = pagerank_result<Real>;

// A way to make a right result wrong, and how the sentence starts that says so.
template <class Real>
struct wrong {
  std::string starts;
  std::function<void(result<Real>&)> seed;
};

// Changes what rank(5) is, at its owner.
template <class Real>
std::function<void(result<Real>&)> at_five(Real factor) {
  return [factor](result<Real>& r) {
    if (r.rank.owns(5)) r.rank.store(5, r.rank.load(5) * factor);
  };
}

template <class Real>
void catches(world& w, const pagerank_options& opt, const wrong<Real>& seeded_error) {
  const auto g = support::random_graph(12, 90);
  const auto share = support::share_of<std::uint32_t>(g, w.rank(), w.size());
  auto r = pagerank<Real>(w, share, opt);
  EXPECT_EQ(verify_pagerank(w, share, r, opt), std::nullopt);
  seeded_error.seed(r);
  const auto said = verify_pagerank(w, share, r, opt).value_or("nothing");
  EXPECT_TRUE(said.starts_with(seeded_error.starts)) << said;
}

class VerifyPagerank : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(Everywhere, VerifyPagerank, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

TEST_P(VerifyPagerank, CatchesEverySeededWrong) {
  GetParam().run([](world& w) {
    const pagerank_options gap{.iterations = 1000, .tolerance = 1e-5},
        three_sweeps{.sweep = pagerank_sweep::jacobi, .iterations = 3}, no_sweep{.iterations = 0},
        networkx{.convention = pagerank_convention::networkx};
    constexpr auto nan = std::numeric_limits<float>::quiet_NaN();
    catches<float>(w, gap, {"rule 1: the value of vertex 5 ", at_five(nan)});
    catches<float>(w, gap, {"rule 1: the value of vertex 5 ", at_five(-1.0f)});
    catches<float>(w, gap, {"rule 1: the value of vertex 5 ", at_five(1e9f)});
    catches<float>(w, networkx, {"rule 2: the values sum to ", at_five(1.1f)});
    catches<double>(w, networkx, {"rule 2: the values sum to ", at_five(1 + 1e-9)});
    catches<float>(w, gap, {"rule 3: ", [](auto& r) { r.iterations += 1000; }});
    catches<float>(w, gap, {"rule 3: ", [](auto& r) { r.change = 1; }});
    catches<double>(w, three_sweeps, {"rule 4: ", [](auto& r) { r.change = 0; }});
    catches<double>(w, three_sweeps, {"rule 5: ", [](auto& r) { r.change = 10; }});
    catches<float>(w, no_sweep, {"rule 4: no sweep was made", at_five(1.1f)});
    catches<float>(w, gap, {"rule 4: ", at_five(1.1f)});
    catches<float>(w, gap, {"rule 4: ", at_five(0.9f)});
    catches<float>(w, gap, {"rule 1: the value of vertex 5 ", at_five(0.0f)});
  });
}

// Ranks that are right by one convention are wrong by another if there are sinks.
TEST_P(VerifyPagerank, TellsConventionsApart) {
  GetParam().run([](world& w) {
    const auto share =
        support::share_of<std::uint32_t>(support::one_way_path(9), w.rank(), w.size());
    for (const auto made : {pagerank_convention::gap, pagerank_convention::networkx}) {
      for (const auto judged : {pagerank_convention::gap, pagerank_convention::networkx}) {
        const pagerank_options opt{.convention = made, .iterations = 100, .tolerance = 1e-9};
        const auto r = pagerank<double>(w, share, opt);
        auto other = opt;
        other.convention = judged;
        EXPECT_EQ(verify_pagerank(w, share, r, other) == std::nullopt, made == judged);
      }
    }
  });
}

}  // namespace
}  // namespace cairn::algo::verify_pagerank_test
