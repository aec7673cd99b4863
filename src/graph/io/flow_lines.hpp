// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <cairn/graph/io/dimacs.hpp>

#include "head_lines.hpp"

namespace cairn::graph::io {

/// Throws the fault of a line that is no problem line.
[[noreturn]] inline void fail_problem(const head_lines& at) {
  throw text_fault{at.line(), "expected 'p sp VERTICES ARCS' (or p max, p tw, p edge), found " +
                                  quoted_line(at.line(), at.stop())};
}

/// Reads the line "n ID s" or "n ID t" of a flow between `vertices` vertices.
///
/// found     the terminals of the lines before; 0: none
/// Throws    text_fault, also if both are the same or if a line before named the same end
void read_terminal(const head_lines& at, std::uint64_t vertices, flow_terminals& found);

}  // namespace cairn::graph::io
