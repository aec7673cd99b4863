// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cairn/algo/algorithm.hpp>
#include <cairn/graph/graphalytics.hpp>
#include <cairn/task/pool.hpp>

namespace cairn::algo {

/// The rule by which a value agrees with that of a reference output.
///
///   exact     equal integers
///   renamed   integers that name classes: a bijection maps the names of one onto the other's
///   close     reals of which |found - expected| <= 1e-4 |expected|; infinity equals itself only
enum class agreement { exact, renamed, close };

/// An algorithm of LDBC Graphalytics.
///
/// name        in the properties of a data set: bfs, pr, wcc, cdlp, lcc, sssp
/// ending      of its reference output, the file NAME-ENDING
/// command     the algorithm that computes it
/// column      and its result
struct graphalytics_algorithm {
  std::string_view name, ending, command, column;
  agreement rule;
};

/// The algorithm of this name. Throws input_error, with the line of `from`, if there is none.
[[nodiscard]] const graphalytics_algorithm& graphalytics_algorithm_of(
    const graph::graphalytics_dataset& from, std::string_view name);

/// A reference output: "id value" in each line, in any order. The value of each vertex, by position
/// (see labels); for agreement::close as doubles. Unreached is 2^63 - 1 or "infinity".
///
/// Throws    input_error with the line: unless each vertex has one row with such a value
/// Called by worker 0, outside parallel loops.
[[nodiscard]] own_values read_graphalytics_output(task::pool& workers, const std::string& path,
                                                  const graph::labels& names, agreement rule);

/// The first position at which two outputs of the same length disagree. If classes are named
/// differently, that is the first at which two vertices are apart in one and together in the other.
[[nodiscard]] std::optional<std::uint64_t> first_disagreement(agreement rule,
                                                              const own_values& expected,
                                                              const own_values& found);

/// The outcome of one algorithm on one data set.
///
/// seconds    of building what the algorithm needs from the graph, and of the run
/// compared   number of compared vertices
/// wrong      the wrong vertex with the smallest id, and both values
struct graphalytics_outcome {
  struct wrong_value {
    std::uint64_t vertex;
    std::string expected, found;
  };
  double seconds;
  std::uint64_t compared;
  std::optional<wrong_value> wrong;
};

/// Runs an algorithm with the parameters of the data set and compares the result with the reference
/// output, which rank 0 reads.
///
/// g           the graph of `from` with in-edges
/// begins      called before the run whose time is measured
/// ended       called after it
/// Returns     the same on every rank
/// Memory      on rank 0: 17 bytes a vertex, for class names up to 100
/// Throws      input_error for missing or wrong parameters, and as read_graphalytics_output()
/// Collective  all ranks
/// Source      [Graphalytics], output validation
[[nodiscard]] graphalytics_outcome run_graphalytics(
    world& w, const graph::any_graph& g, const graph::graphalytics_dataset& from,
    const graphalytics_algorithm& which, const activity::options& activity = {},
    const std::function<void()>& begins = [] {}, const std::function<void()>& ended = [] {});

}  // namespace cairn::algo
