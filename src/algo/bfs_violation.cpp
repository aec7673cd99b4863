// SPDX-License-Identifier: Apache-2.0
#include "algo/bfs_violation.hpp"

namespace cairn::algo {
namespace {

std::string rule(int number) {
  switch (number) {
    case 1:
      return "rule 1 (parents lead to the root, without cycles): ";
    case 2:
      return "rule 2 (a tree edge leads from one depth to the next): ";
    case 3:
      return "rule 3 (no edge leads down by more than one depth): ";
    case 4:
      return "rule 4 (the tree spans what the root reaches): ";
    default:
      return "rule 5 (a tree edge is an edge of the graph): ";
  }
}

}  // namespace

std::string to_sentence(const bfs_finding& f, const graph::labels& names) {
  const auto id = [&](std::uint64_t v) { return names.text_of(v); };
  const auto vertex = [&] { return "vertex " + id(f.v); };
  const auto edge = [&] { return "edge " + id(f.u) + " -> " + id(f.v); };
  const auto depth_v = std::to_string(f.depth_v), depth_u = std::to_string(f.depth_u);
  switch (f.rule) {
    case bfs_violation::root_unreached:
      return rule(4) + "the root " + id(f.v) + " itself is not reached";
    case bfs_violation::root_has_parent:
      return rule(1) + "the root " + id(f.v) + " is not its own parent";
    case bfs_violation::second_root:
      return rule(1) + vertex() + " is a root besides the root " + id(f.u);
    case bfs_violation::no_such_parent:
      return rule(5) + vertex() + " has parent " + std::to_string(f.u) +
             ", which is no vertex of the graph";
    case bfs_violation::parent_unreached:
      return rule(1) + vertex() + " has parent " + id(f.u) + ", which is not reached";
    case bfs_violation::no_such_edge:
      return rule(5) + vertex() + " has parent " + id(f.u) + ", but there is no " + edge();
    case bfs_violation::wrong_step:
      return rule(2) + vertex() + " has depth " + depth_v + ", its parent " + id(f.u) +
             " has depth " + depth_u;
    case bfs_violation::cycle:
      return rule(1) + "the parents of " + vertex() + " never lead to the root " + id(f.u);
    case bfs_violation::root_depth:
      return rule(2) + "the root " + id(f.v) + " has depth " + depth_v + ", not 0";
    case bfs_violation::depth_missing:
      return rule(4) + vertex() + " has a parent, but no depth";
    case bfs_violation::parent_missing:
      return rule(4) + vertex() + " has depth " + depth_v + ", but no parent";
    case bfs_violation::skips_depths:
      return rule(3) + edge() + " leads from depth " + depth_u + " to depth " + depth_v;
    case bfs_violation::missed:
      return rule(4) + vertex() + " is not reached, but " + edge() + " leads to it";
    case bfs_violation::no_predecessor:
      return rule(2) + vertex() + " has depth " + depth_v +
             ", but has no edge from a vertex whose depth is one less";
    case bfs_violation::none:
      break;
  }
  return {};
}

}  // namespace cairn::algo
