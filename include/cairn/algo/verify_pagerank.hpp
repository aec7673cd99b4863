// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include <cairn/algo/pagerank.hpp>

namespace cairn::algo {

/// Verifies a PageRank result. Returns nothing, or one sentence.
///
///   rule 1  every rank is a non-negative number
///   rule 2  if sinks are redistributed, the ranks sum to 1
///   rule 3  the run stopped when the convention says so
///   rule 4  another sweep, of Jacobi and in double, changes it by at most damping * change; every
///           rank is 1/n if no sweep was made
///   rule 5  the last of k sweeps changed the ranks by at most 2 damping^k / (1 - damping), or by
///           less than the tolerance
///
/// Rule 4 holds for every kind of sweep. The last sweep computed each rank x' = sum of d * P * x
/// over edges, where x is old or new. Another sweep changes it by d * P * (x' - x) for each old x
/// and by nothing for each new one; P sums to at most 1 over the edges of a vertex. The rounding
/// error per vertex is bounded by 8 (2 + sqrt(k)) units in the last place for a sum of k terms,
/// assuming independent rounding errors.
///
/// Rule 5: the sum R of |rank - sweep(rank)| is at most 2 * damping at the start. A sweep, whatever
/// mixture of old and new ranks it reads, reduces R to at most damping * R and changes the ranks by
/// at most R / (1 - damping) in all.
///
/// The sweep adds atomically along out-edges in double, unlike any variant.
///
/// opt         the options of the run
/// Returns     the same on every rank; of several violations the most informative
/// Work        O(n + m)
/// Messages    one per edge to another rank, and two gathers of sums
/// Memory      per rank: a double and a count per vertex
/// Collective  all ranks
/// Source      [Higham19] for the bound on rounding
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
