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

/// Which id of the input each vertex has: ids of the input <-> positions <-> vertices.
///
/// Position p is the p-th smallest id. Ids are consecutive numbers, any numbers, or texts. Vertices
/// are the positions unless the graph was loaded in another order (see vertex_order).
///
/// The id of a vertex as a number is the position where ids are texts, so that tables and
/// comparisons of numbers work for all of them; what people read and write goes through text_of
/// and vertex_of(text).
///
/// Copies share their tables.
/// Memory    per rank: nothing for consecutive numbers; 8 bytes a vertex for other numbers; the
///           characters and 8 bytes a vertex for texts; and that of the order
class labels {
 public:
  /// Vertex v has id first_id + v, for v in [0, num_vertices).
  explicit labels(std::uint64_t num_vertices = 0, std::uint64_t first_id = 0) noexcept
      : size_(num_vertices), first_id_(first_id) {}
  /// Vertex v has id ids[v]; ids ascend strictly. Consecutive ids take no memory.
  explicit labels(std::vector<std::uint64_t> ids);
  /// Vertex v has the text words[v]; words ascend strictly.
  explicit labels(word_list words);

  /// Vertex v has id ids[v]: distinct, in any order.
  /// Throws    contract_violation if two are the same
  [[nodiscard]] static labels by_vertex(const std::vector<std::uint64_t>& ids);
  [[nodiscard]] static labels by_vertex(const word_list& words);

  /// The same ids for the vertices of a graph whose vertex v has become order.vertex_at(v).
  [[nodiscard]] labels reordered(const vertex_order& order) const;

  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  /// Vertex v has id v.
  [[nodiscard]] bool identity() const noexcept {
    return !ids_ && !words_ && first_id_ == 0 && order_.identity();
  }
  /// Ids are texts.
  [[nodiscard]] bool textual() const noexcept { return words_ != nullptr; }
  /// The texts by position; requires textual().
  [[nodiscard]] const word_list& words() const noexcept { return *words_; }
  /// Greater ids have greater vertices.
  [[nodiscard]] bool ascend() const noexcept { return order_.identity(); }

  [[nodiscard]] std::uint64_t position_of(std::uint64_t v) const noexcept {
    CAIRN_ASSERT(v < size_);
    return order_.position_of(v);
  }
  [[nodiscard]] std::uint64_t vertex_at(std::uint64_t position) const noexcept {
    CAIRN_ASSERT(position < size_);
    return order_.vertex_at(position);
  }

  /// The id at a position, as a number.
  [[nodiscard]] std::uint64_t id_at(std::uint64_t position) const noexcept {
    CAIRN_ASSERT(position < size_);
    return ids_ ? (*ids_)[position] : first_id_ + position;
  }
  /// The id of vertex v < size(), as a number.
  [[nodiscard]] std::uint64_t id_of(std::uint64_t v) const noexcept {
    return id_at(position_of(v));
  }
  /// The id of vertex v < size(), as the input writes it.
  [[nodiscard]] std::string text_of(std::uint64_t v) const {
    const auto position = position_of(v);
    return words_ ? std::string((*words_)[position]) : std::to_string(id_at(position));
  }
  /// The vertex with this id as a number, or nothing. O(log n).
  [[nodiscard]] std::optional<std::uint64_t> vertex_of(std::uint64_t id) const noexcept;
  /// The vertex with this id as the input writes it, or nothing: also where `id` is no number and
  /// ids are numbers. O(log n).
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
/// A graph that declares n keeps its ids and has n vertices. In an edge list a vertex is an id
/// that occurs on any rank; vertices count from 0 by ascending id. Afterwards all blocks on all
/// ranks hold 32-bit ids if there are fewer than 2^32 - 1 vertices, and 64-bit ids else.
///
/// Work      O(edges); O(edges log edges) where the largest id is many times their number
/// Memory    O(vertices), and then O(edges), beyond the arguments
/// Collective.
[[nodiscard]] labels relabel(world& w, io::raw_edges& edges);

/// How vertices are numbered inside: whatever it is, inputs and outputs have the input's ids.
///
/// file     by ascending id
/// degree   by descending degree in both directions, as the input lists it (duplicates and
///          self-loops count), then by id: the vertices of most edges share cache lines
/// hash     scrambled by a hash, the same in every run: the ranks' shares are alike
/// random   scrambled by a seed
enum class order_kind : std::uint8_t { file, degree, hash, random };

/// Numbers the vertices of edges that relabel or a generator has numbered again, in that order.
/// The result does not depend on the numbers of ranks and workers.
///
/// Work      O(edges), and of degree O(vertices log vertices) on every rank
/// Memory    of degree per rank: 8 bytes a vertex to keep (see vertex_order), 32 meanwhile
/// Collective.
[[nodiscard]] labels reorder(world& w, io::raw_edges& edges, const labels& names, order_kind kind,
                             std::uint64_t seed = 1);

}  // namespace cairn::graph
