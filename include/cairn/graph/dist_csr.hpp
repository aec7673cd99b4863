// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include <cairn/base/contract.hpp>
#include <cairn/graph/attachment.hpp>
#include <cairn/graph/csr.hpp>
#include <cairn/graph/labels.hpp>
#include <cairn/pgas/partition.hpp>

namespace cairn::graph {

/// One rank's share of a graph: the rows of its vertices, and properties of the whole graph.
/// Move-only; only add_inverse and attach modify it.
///
/// partition      which rank owns which vertex; the same on every rank
/// out            out-rows of this rank's vertices
/// in             in-rows of this rank's vertices. The same object as out() if the graph is
///                undirected; for a directed graph present only if requested
/// num_edges      of the whole graph; an undirected edge counts once
/// labels         the input's id of each vertex
///
/// Id             std::uint32_t if the graph has fewer than 2^32 - 1 vertices, else std::uint64_t
template <class Id>
class dist_csr {
 public:
  using id_type = Id;

  dist_csr() = default;
  dist_csr(const pgas::partition& partition, bool directed, std::uint64_t num_edges, csr<Id> out,
           graph::labels names)
      : partition_(partition),
        directed_(directed),
        num_edges_(num_edges),
        out_(std::move(out)),
        labels_(std::move(names)) {
    CAIRN_EXPECTS(out_.last() <= partition.n());
    CAIRN_EXPECTS(labels_.size() == partition.n());
  }

  [[nodiscard]] const pgas::partition& partition() const noexcept { return partition_; }
  [[nodiscard]] std::uint64_t num_vertices() const noexcept { return partition_.n(); }
  [[nodiscard]] std::uint64_t num_edges() const noexcept { return num_edges_; }
  [[nodiscard]] bool directed() const noexcept { return directed_; }
  [[nodiscard]] bool weighted() const noexcept { return out_.weighted(); }
  [[nodiscard]] const graph::labels& labels() const noexcept { return labels_; }

  [[nodiscard]] const csr<Id>& out() const noexcept { return out_; }
  [[nodiscard]] bool has_in() const noexcept { return !directed_ || in_.has_value(); }
  /// Throws    contract_violation unless has_in()
  void expect_in() const {
    CAIRN_EXPECTS(has_in(), "in-edges are needed: .build = {.inverse = true}, or build_inverse()");
  }
  /// Throws    as expect_in()
  [[nodiscard]] const csr<Id>& in() const {
    expect_in();
    return directed_ ? *in_ : out_;
  }

  /// Adds the in-rows of a directed graph, for the same vertices as out().
  void add_inverse(csr<Id> in) {
    CAIRN_EXPECTS(directed_ && in.first() == out_.first() && in.num_rows() == out_.num_rows());
    in_.emplace(std::move(in));
  }

  /// Data of another layer from the graph's file. Present only if one rank has all rows, in the
  /// file's order.
  [[nodiscard]] const std::optional<attachment>& attached() const noexcept { return attached_; }
  void attach(attachment bytes) { attached_.emplace(std::move(bytes)); }

 private:
  pgas::partition partition_;
  bool directed_ = false;
  std::uint64_t num_edges_ = 0;
  csr<Id> out_;
  std::optional<csr<Id>> in_;
  graph::labels labels_;
  std::optional<attachment> attached_;
};

/// A graph whose id width is known only at run time: for the command line and Python.
using any_graph = std::variant<dist_csr<std::uint32_t>, dist_csr<std::uint64_t>>;

/// True if vertices 0 .. n-1 and no_vertex fit 32 bits.
[[nodiscard]] constexpr bool fits_32_bits(std::uint64_t n) noexcept { return n < 0xffff'ffffu; }

}  // namespace cairn::graph
