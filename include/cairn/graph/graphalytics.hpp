// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <cairn/graph/io/properties.hpp>
#include <cairn/graph/load.hpp>

namespace cairn::graph {

/// A data set of LDBC Graphalytics, as NAME.properties describes it: a file of vertices, which may
/// have no edges, a file of edges, and which algorithms have reference outputs.
class graphalytics_dataset {
 public:
  /// Throws    input_error if the file cannot be read or lacks a property of the graph
  explicit graphalytics_dataset(const std::string& properties_file);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] bool directed() const { return settings_.boolean(key("directed")); }
  /// Whether edges have weights, the only property that they may have.
  [[nodiscard]] bool weighted() const { return settings_.contains(key("edge-properties.names")); }
  /// In lower case: bfs, pr, ...
  [[nodiscard]] const std::vector<std::string>& algorithms() const noexcept { return algorithms_; }

  [[nodiscard]] const std::string& vertex_file() const noexcept { return vertex_file_; }
  /// The file of edges. It is NAME.e if the properties name the vertex file instead, as in two of
  /// LDBC's data sets.
  [[nodiscard]] const std::string& edge_file() const noexcept { return edge_file_; }
  /// The file NAME-ENDING.
  [[nodiscard]] std::string reference_file(std::string_view ending) const;

  /// "graph.NAME.PROPERTY", the key of a property in settings().
  [[nodiscard]] std::string key(std::string_view property) const;
  [[nodiscard]] const io::properties& settings() const noexcept { return settings_; }

 private:
  [[nodiscard]] std::string in_folder(const std::string& file) const;

  io::properties settings_;
  std::string name_, folder_, vertex_file_, edge_file_;
  std::vector<std::string> algorithms_;
};

/// The .properties files of a folder in the order of their names, or `path` itself if it is a file.
///
/// Throws    input_error if there is none
[[nodiscard]] std::vector<std::string> graphalytics_files(const std::string& path);

/// The graph of a data set. The file lists each undirected edge once.
///
/// options   `read.format`, `read.ids` and `build.symmetrize` are ignored
/// Throws    input_error, the same on every rank: as read_edges(); for an edge with an unknown
///           vertex; if weights are missing; if the numbers of vertices and edges differ from those
///           in the properties
/// Collective.
[[nodiscard]] loaded_graph load(world& w, const graphalytics_dataset& from,
                                const load_options& options = {});

}  // namespace cairn::graph
