// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <support/random_graphs.hpp>

namespace cairn::support {

/// A graph of LDBC Graphalytics: the files NAME.v, NAME.e and NAME.properties in a folder.
struct graphalytics_graph {
  plain_graph graph;                              ///< vertices are positions in `ids`
  std::vector<std::uint64_t> ids;                 ///< ascending
  std::map<std::string, std::string> properties;  ///< without "graph.NAME."
};

namespace detail {

inline std::ifstream open_to_read(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return file;
}

}  // namespace detail

inline graphalytics_graph read_graphalytics(const std::filesystem::path& folder,
                                            const std::string& name) {
  graphalytics_graph g;
  auto properties = detail::open_to_read(folder / (name + ".properties"));
  const auto prefix = "graph." + name + ".";
  for (std::string line; std::getline(properties, line);) {
    const auto equals = line.find(" = ");
    if (!line.starts_with(prefix) || equals == std::string::npos) continue;
    g.properties[line.substr(prefix.size(), equals - prefix.size())] = line.substr(equals + 3);
  }
  auto vertices = detail::open_to_read(folder / (name + ".v"));
  for (std::uint64_t id = 0; vertices >> id;) g.ids.push_back(id);
  std::sort(g.ids.begin(), g.ids.end());
  g.graph = {name, g.ids.size(), g.properties.at("directed") == "true", {}};
  const auto vertex_of = [&](std::uint64_t id) {
    const auto at = std::lower_bound(g.ids.begin(), g.ids.end(), id);
    if (at == g.ids.end() || *at != id) throw std::runtime_error(name + ": an edge of no vertex");
    return static_cast<std::uint64_t>(at - g.ids.begin());
  };
  auto edges = detail::open_to_read(folder / (name + ".e"));
  for (std::string line; std::getline(edges, line);) {
    std::uint64_t source = 0, target = 0;
    if (!(std::istringstream(line) >> source >> target)) continue;
    g.graph.edges.push_back({vertex_of(source), vertex_of(target)});
  }
  return g;
}

/// A reference output: a row "id value" per vertex, in any order.
using graphalytics_rows = std::vector<std::pair<std::uint64_t, double>>;

inline graphalytics_rows read_graphalytics_rows(const std::filesystem::path& path) {
  auto file = detail::open_to_read(path);
  graphalytics_rows rows;
  std::uint64_t id = 0;
  for (std::string value; file >> id >> value;) {
    rows.emplace_back(id, std::strtod(value.c_str(), nullptr));  // strtod also reads "infinity"
  }
  return rows;
}

/// Returns how `found` differs from `expected` in one sentence, or "". Every id must occur exactly
/// once in both, and the relative error of each value must be at most `tolerance`.
inline std::string graphalytics_violation(graphalytics_rows expected, graphalytics_rows found,
                                          double tolerance = 1e-4) {
  const auto twice = [](graphalytics_rows& rows) -> std::string {
    std::sort(rows.begin(), rows.end());
    for (std::size_t i = 1; i < rows.size(); ++i) {
      if (rows[i - 1].first == rows[i].first) {
        return "vertex " + std::to_string(rows[i].first) + " stands twice";
      }
    }
    return {};
  };
  if (auto why = twice(expected); !why.empty()) return why + " in what is expected";
  if (auto why = twice(found); !why.empty()) return why;
  for (std::size_t i = 0; i < std::max(expected.size(), found.size()); ++i) {
    if (i == found.size() || (i < expected.size() && expected[i].first < found[i].first)) {
      return "vertex " + std::to_string(expected[i].first) + " is missing";
    }
    if (i == expected.size() || found[i].first < expected[i].first) {
      return "vertex " + std::to_string(found[i].first) + " is not expected";
    }
    const double want = expected[i].second, have = found[i].second;
    if (!(want == have || std::abs(want - have) <= tolerance * std::abs(want))) {
      return "vertex " + std::to_string(found[i].first) + " has " + std::to_string(have) +
             ", expected " + std::to_string(want);
    }
  }
  return {};
}

/// The same for values that are class labels, up to renaming: there must be a bijection between the
/// labels of both.
inline std::string renaming_violation(graphalytics_rows expected, graphalytics_rows found) {
  const auto ids = [](graphalytics_rows rows) {
    for (auto& row : rows) row.second = 0;
    return rows;
  };
  if (auto why = graphalytics_violation(ids(expected), ids(found)); !why.empty()) return why;
  std::sort(expected.begin(), expected.end());
  std::sort(found.begin(), found.end());
  std::map<double, double> to_found, to_expected;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto [id, have] = found[i];
    const auto want = expected[i].second;
    if (to_found.try_emplace(want, have).first->second != have) {
      return "vertex " + std::to_string(id) + " is apart from others of its class";
    }
    if (to_expected.try_emplace(have, want).first->second != want) {
      return "vertex " + std::to_string(id) + " is together with others of another class";
    }
  }
  return {};
}

}  // namespace cairn::support
