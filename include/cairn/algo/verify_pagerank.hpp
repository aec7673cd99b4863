// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include <cairn/algo/pagerank.hpp>

namespace cairn::algo {

/// What is wrong with a result of PageRank: nothing, or one sentence.
///
///   rule 1  every rank is a number that is not negative
///   rule 2  where sinks are redistributed the ranks sum to 1
///   rule 3  it stopped when the convention says, and not because it gave up early
///   rule 4  another sweep, of Jacobi and in double, changes it by at most damping * change
///
/// Rule 4 holds for every way of sweeping. The last sweep made each rank x' = sum of d * P * x
/// over edges, with the old x or the new one; so another sweep changes it by d * P * (x' - x)
/// where it read the old one and by nothing where it read the new, and P adds up to at most 1
/// over the edges of a vertex. What rounding adds is bounded per vertex by 8 (2 + sqrt(k))
/// units in the last place for a sum of k terms, as far as rounding errors are independent.
///
/// The sweep runs over out-edges, by atomic additions in double: another way than any variant.
/// opt       what the result was asked for with
/// Returns   the same on every rank; of several violations the one that says most
/// Messages  one per edge to another rank
/// Memory    per rank: a double and a count for each own vertex
/// Collective.
/// Source    The bound on rounding is N. Higham's and T. Mary's.
template <class Real, class Id>
[[nodiscard]] std::optional<std::string> verify_pagerank(world& w, const graph::dist_csr<Id>& g,
                                                         const pagerank_result<Real>& result,
                                                         const pagerank_options& opt);

extern template std::optional<std::string> verify_pagerank(world&,
                                                           const graph::dist_csr<std::uint32_t>&,
                                                           const pagerank_result<float>&,
                                                           const pagerank_options&);
extern template std::optional<std::string> verify_pagerank(world&,
                                                           const graph::dist_csr<std::uint64_t>&,
                                                           const pagerank_result<float>&,
                                                           const pagerank_options&);
extern template std::optional<std::string> verify_pagerank(world&,
                                                           const graph::dist_csr<std::uint32_t>&,
                                                           const pagerank_result<double>&,
                                                           const pagerank_options&);
extern template std::optional<std::string> verify_pagerank(world&,
                                                           const graph::dist_csr<std::uint64_t>&,
                                                           const pagerank_result<double>&,
                                                           const pagerank_options&);

}  // namespace cairn::algo
