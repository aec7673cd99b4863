// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <variant>

#include <cairn/base/contract.hpp>
#include <cairn/graph/edge.hpp>
#include <cairn/hw/pages.hpp>

namespace cairn::graph {

/// A read-only array that either owns its memory (huge pages) or views memory that `keeper` keeps
/// alive, such as a mapped file. Move-only; a move does not relocate the elements.
template <class T>
class array {
 public:
  array() = default;
  explicit array(hw::page_buffer<T> owned) : owned_(std::move(owned)), view_(owned_.span()) {}
  array(std::span<const T> view, std::shared_ptr<const void> keeper)
      : keeper_(std::move(keeper)), view_(view) {}
  array(array&& other) noexcept
      : owned_(std::move(other.owned_)),
        keeper_(std::move(other.keeper_)),
        view_(std::exchange(other.view_, {})) {}
  array& operator=(array&& other) noexcept {
    owned_ = std::move(other.owned_);
    keeper_ = std::move(other.keeper_);
    view_ = std::exchange(other.view_, {});
    return *this;
  }

  [[nodiscard]] std::span<const T> span() const noexcept { return view_; }
  [[nodiscard]] const T* data() const noexcept { return view_.data(); }
  [[nodiscard]] std::size_t size() const noexcept { return view_.size(); }

 private:
  hw::page_buffer<T> owned_;
  std::shared_ptr<const void> keeper_;
  std::span<const T> view_;
};

/// Edges with weights: none, integers or doubles.
template <class Id>
using weighted_edges = std::variant<std::monostate, array<weighted_edge<Id, std::int32_t>>,
                                    array<weighted_edge<Id, double>>>;

/// Pointers to the rows of a csr, by value: a loop can keep a copy in registers, whatever its body
/// writes. Valid as long as the csr's arrays.
template <class Id>
class row_view {
 public:
  row_view(std::uint64_t first, const std::uint64_t* offsets, const Id* targets) noexcept
      : first_(first), offsets_(offsets), targets_(targets) {}

  [[nodiscard]] std::span<const Id> neighbors(std::uint64_t v) const noexcept {
    const auto* const at = offsets_ + (v - first_);
    return {targets_ + at[0], static_cast<std::size_t>(at[1] - at[0])};
  }

  /// Prefetches the offset of row v, and the targets of row w whose offset was prefetched earlier.
  /// Together they hide both cache misses of an access in random order. Always inlined, because g++
  /// drops calls of a function that only prefetches.
  [[gnu::always_inline]] void prefetch_offset(std::uint64_t v) const noexcept {
    __builtin_prefetch(offsets_ + (v - first_));
  }
  [[gnu::always_inline]] void prefetch_row(std::uint64_t w) const noexcept {
    __builtin_prefetch(targets_ + offsets_[w - first_]);
  }

 private:
  std::uint64_t first_;
  const std::uint64_t* offsets_;
  const Id* targets_;
};

/// Adjacency lists of vertices [first, first + num_rows): compressed sparse rows. Immutable.
///
/// neighbors(v) is targets()[offsets()[v - first] .. offsets()[v - first + 1]). The first offset
/// need not be 0 and targets() may extend beyond the last one: a rank's rows of a mapped file are a
/// window of the file's arrays. Vertices are always global ids.
///
/// With weights the rows exist twice: as targets, for algorithms that ignore weights, and as
/// targets with weights.
///
/// Id  std::uint32_t or std::uint64_t
template <class Id>
class csr {
 public:
  using id_type = Id;

  csr() = default;

  /// first     global id of row 0
  /// offsets   shape [num_rows + 1], ascending
  /// targets   at least offsets.back() elements, those of a row ascending
  /// edges     the rows' edges with weights, from that of offsets.front() on; or none
  /// Throws    contract_violation if the shapes do not match (values of offsets and targets are not
  ///           checked)
  csr(std::uint64_t first, array<std::uint64_t> offsets, array<Id> targets,
      weighted_edges<Id> edges = {})
      : first_(first),
        num_rows_(offsets.size() == 0 ? 0 : offsets.size() - 1),
        offsets_(std::move(offsets)),
        targets_(std::move(targets)),
        edges_(std::move(edges)) {
    CAIRN_EXPECTS(offsets_.size() >= 1);
    CAIRN_EXPECTS(offsets_.span().back() <= targets_.size());
    CAIRN_EXPECTS(!weighted() || num_weighted_edges() == num_edges());
    const auto* const at = offsets_.data();
    for (std::size_t i = 0; i < num_rows_; ++i) {
      const auto degree = at[i + 1] - at[i];
      num_nonempty_rows_ += degree != 0 ? 1 : 0;
      max_degree_ = std::max(max_degree_, degree);
    }
  }

  [[nodiscard]] std::uint64_t first() const noexcept { return first_; }
  [[nodiscard]] std::uint64_t last() const noexcept { return first_ + num_rows_; }
  [[nodiscard]] std::uint64_t num_rows() const noexcept { return num_rows_; }
  /// Entries in these rows. In the whole graph an undirected edge has two (a self-loop one).
  [[nodiscard]] std::uint64_t num_edges() const noexcept {
    return num_rows_ == 0 ? 0 : offsets_.data()[num_rows_] - offsets_.data()[0];
  }

  /// Rows with at least one edge.
  [[nodiscard]] std::uint64_t num_nonempty_rows() const noexcept { return num_nonempty_rows_; }
  /// The largest degree in these rows.
  [[nodiscard]] std::uint64_t max_degree() const noexcept { return max_degree_; }

  /// v is a global id in [first(), last()).
  [[nodiscard]] std::uint64_t degree(std::uint64_t v) const noexcept {
    const auto* const at = offsets_.data() + (v - first_);
    return at[1] - at[0];
  }
  /// In ascending order.
  [[nodiscard]] std::span<const Id> neighbors(std::uint64_t v) const noexcept {
    return rows().neighbors(v);
  }
  [[nodiscard]] row_view<Id> rows() const noexcept {
    return {first_, offsets_.data(), targets_.data()};
  }

  [[nodiscard]] bool weighted() const noexcept { return edges_.index() != 0; }
  /// True if the weights are of type W (std::int32_t or double).
  template <class W>
  [[nodiscard]] bool weighted_by() const noexcept {
    return std::holds_alternative<array<weighted_edge<Id, W>>>(edges_);
  }
  /// neighbors(v) with the weights of the edges. Requires weighted_by<W>().
  template <class W>
  [[nodiscard]] std::span<const weighted_edge<Id, W>> edges_of(std::uint64_t v) const noexcept {
    const auto* const at = offsets_.data() + (v - first_);
    return edges<W>().subspan(at[0] - offsets_.data()[0], at[1] - at[0]);
  }

  [[nodiscard]] std::span<const std::uint64_t> offsets() const noexcept { return offsets_.span(); }
  [[nodiscard]] std::span<const Id> targets() const noexcept { return targets_.span(); }
  /// The edges of these rows, shape [num_edges()]. Requires weighted_by<W>().
  template <class W>
  [[nodiscard]] std::span<const weighted_edge<Id, W>> edges() const noexcept {
    return std::get_if<array<weighted_edge<Id, W>>>(&edges_)->span();
  }

 private:
  std::size_t num_weighted_edges() const noexcept {
    return weighted_by<double>() ? edges<double>().size() : edges<std::int32_t>().size();
  }

  std::uint64_t first_ = 0;
  std::uint64_t num_rows_ = 0;
  std::uint64_t num_nonempty_rows_ = 0, max_degree_ = 0;
  array<std::uint64_t> offsets_;
  array<Id> targets_;
  weighted_edges<Id> edges_;
};

}  // namespace cairn::graph
