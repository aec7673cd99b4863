// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cairn/base/contract.hpp>
#include <cairn/graph/io/raw_edges.hpp>
#include <cairn/graph/vertex_order.hpp>
#include <cairn/graph/words.hpp>

namespace cairn {
class world;
}

namespace cairn::graph {

/// The ids first, first + 1, ..., first + size - 1.
struct consecutive_ids {
  std::uint64_t first = 0;
  std::uint64_t size = 0;
};

/// Maps between ids of the input, positions and vertices.
///
/// Position p is the p-th smallest id. Ids are consecutive numbers, any numbers, or texts. Vertices
/// are the positions unless the graph was loaded in another order (see vertex_order).
///
/// If ids are texts, the numeric id of a vertex is its position, so that tables and comparisons of
/// numbers work for all kinds of ids. User input and output use text_of and vertex_of(text).
///
/// Copies share their tables.
/// Memory    per rank: nothing for consecutive numbers; 8 bytes a vertex for other numbers; the
///           characters and 8 bytes a vertex for texts; plus the order's
class labels {
 public:
  /// Vertex v has id v, for v in [0, num_vertices).
  explicit labels(std::uint64_t num_vertices = 0) noexcept : size_(num_vertices) {}
  /// Vertex v has id ids.first + v.
  explicit labels(const consecutive_ids& ids) noexcept : size_(ids.size), first_id_(ids.first) {}
  /// Vertex v has id ids[v]; ids ascend strictly. Consecutive ids take no memory.
  explicit labels(std::vector<std::uint64_t> ids);
  /// Vertex v has the text words[v]; words ascend strictly.
  explicit labels(word_list words);

  /// Vertex v has id ids[v]; ids are distinct, in any order.
  /// Throws    contract_violation if two are equal
  [[nodiscard]] static labels by_vertex(const std::vector<std::uint64_t>& ids);
  [[nodiscard]] static labels by_vertex(const word_list& words);

  /// The labels after vertex v has been renumbered as order.vertex_at(v).
  [[nodiscard]] labels reordered(const vertex_order& order) const;

  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  /// Whether every vertex v has id v.
  [[nodiscard]] bool identity() const noexcept {
    return !ids_ && !words_ && first_id_ == 0 && order_.identity();
  }
  /// Whether ids are texts.
  [[nodiscard]] bool textual() const noexcept { return words_ != nullptr; }
  /// The texts by position; requires textual().
  [[nodiscard]] const word_list& words() const noexcept { return *words_; }
  /// Whether vertices ascend with their ids.
  [[nodiscard]] bool ascend() const noexcept { return order_.identity(); }

  [[nodiscard]] std::uint64_t position_of(std::uint64_t v) const noexcept {
    CAIRN_ASSERT(v < size_);
    return order_.position_of(v);
  }
  [[nodiscard]] std::uint64_t vertex_at(std::uint64_t position) const noexcept {
    CAIRN_ASSERT(position < size_);
    return order_.vertex_at(position);
  }

  /// The numeric id at a position.
  [[nodiscard]] std::uint64_t id_at(std::uint64_t position) const noexcept {
    CAIRN_ASSERT(position < size_);
    return ids_ ? (*ids_)[position] : first_id_ + position;
  }
  /// The numeric id of vertex v < size().
  [[nodiscard]] std::uint64_t id_of(std::uint64_t v) const noexcept {
    return id_at(position_of(v));
  }
  /// The id of vertex v < size(), as the input writes it.
  [[nodiscard]] std::string text_of(std::uint64_t v) const {
    const auto position = position_of(v);
    return words_ ? std::string((*words_)[position]) : std::to_string(id_at(position));
  }
  /// The vertex with this numeric id, or nothing. O(log n).
  [[nodiscard]] std::optional<std::uint64_t> vertex_of(std::uint64_t id) const noexcept;
  /// The vertex with this id as the input writes it, or nothing (also if ids are numbers and `id`
  /// is not one). O(log n).
  [[nodiscard]] std::optional<std::uint64_t> vertex_of(std::string_view id) const noexcept;

 private:
  std::uint64_t size_ = 0;
  std::uint64_t first_id_ = 0;
  std::shared_ptr<const std::vector<std::uint64_t>> ids_;  // by position
  std::shared_ptr<const word_list> words_;                 // by position
  vertex_order order_;
};

/// Numbers the vertices and rewrites the edges' ids in place.
///
/// A graph that declares n has n vertices and keeps its ids. In an edge list a vertex is an id that
/// occurs on any rank; vertices are numbered from 0 by ascending id. Afterwards all blocks on all
/// ranks have 32-bit ids if there are fewer than 2^32 - 1 vertices, else 64-bit ids.
///
/// Work      O(edges); O(edges log edges) if the largest id is many times the number of edges
/// Memory    O(vertices), in the second case O(edges), beyond the arguments
/// Collective.
[[nodiscard]] labels relabel(world& w, io::raw_edges& edges);

/// relabel() for a given set of vertices, which may have no edges.
///
/// ids       of the vertices, ascending strictly; the same on every rank
/// Returns   nothing if an edge of any rank has another id; the ids of the edges are then
///           unspecified
/// Collective.
[[nodiscard]] std::optional<labels> relabel(world& w, io::raw_edges& edges,
                                            const std::vector<std::uint64_t>& ids);

/// The internal numbering of vertices. Inputs and outputs always have the input's ids.
///
/// file     by ascending id
/// degree   by descending degree in both directions as in the input (duplicates and self-loops
///          count), then by id; vertices with many edges share cache lines
/// hash     pseudo-random, the same in every run; balances the ranks' shares
/// random   pseudo-random, chosen by a seed
enum class order_kind : std::uint8_t { file, degree, hash, random };

/// Renumbers in the given order the vertices of edges that relabel or a generator has numbered.
/// The result does not depend on the numbers of ranks and workers.
///
/// Work      O(edges); for degree also O(vertices log vertices) on every rank
/// Memory    for degree, per rank: 8 bytes a vertex (see vertex_order), temporarily 32
/// Collective.
[[nodiscard]] labels reorder(world& w, io::raw_edges& edges, const labels& names, order_kind kind,
                             std::uint64_t seed = 1);

}  // namespace cairn::graph
