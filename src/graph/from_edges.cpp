// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <cairn/base/error.hpp>
#include <cairn/base/types.hpp>
#include <cairn/graph/from_edges.hpp>
#include <cairn/graph/io/raw_edges.hpp>
#include <cairn/task/parallel_for.hpp>

namespace cairn::graph {
namespace {

constexpr std::uint64_t block_edges = std::uint64_t{1} << 19;
constexpr std::uint64_t max_id = std::numeric_limits<std::uint64_t>::max();

std::uint64_t length_of(const auto& any) {
  return std::visit(
      [](const auto& span) -> std::uint64_t {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(span)>, std::monostate>) {
          return 0;
        } else {
          return span.size();
        }
      },
      any);
}

/// Properties of a rank's share that all ranks need.
struct share {
  std::uint64_t weight_type = 0;
  std::uint64_t num_edges = 0;
  std::uint64_t has_real = 0;  // some weight is not a 32-bit integer

  /// Of a share with weights.
  [[nodiscard]] io::weight_kind kind() const {
    return has_real != 0 ? io::weight_kind::real : io::weight_kind::integer;
  }
};

share share_of(const weight_span& weights, std::uint64_t num_edges) {
  share mine{weights.index(), num_edges, 0};
  if (const auto* wide = std::get_if<std::span<const std::int64_t>>(&weights)) {
    const bool all = std::all_of(wide->begin(), wide->end(), [](std::int64_t x) {
      return x >= -0x7fffffff && x <= 0x7fffffff;
    });
    mine.has_real = all ? 0 : 1;
  } else if (!std::holds_alternative<std::monostate>(weights) &&
             !std::holds_alternative<std::span<const std::int32_t>>(weights)) {
    mine.has_real = 1;
  }
  return mine;
}

io::weight_kind agree_on_weights(world& w, const share& mine) {
  auto kind = io::weight_kind::none;
  const auto all = w.all_gather(mine);
  w.agree([&] {
    std::optional<std::uint64_t> type;
    for (const auto& of_rank : all) {
      if (of_rank.num_edges == 0) continue;
      if (type && *type != of_rank.weight_type) {
        throw usage_error("from_edges: two ranks pass weights of different types");
      }
      type = of_rank.weight_type;
      if (of_rank.weight_type != 0 && kind != io::weight_kind::real) {
        kind = of_rank.kind();
      }
    }
    if (type) return;
    for (const auto& of_rank : all) {  // no rank has edges
      if (of_rank.weight_type != 0) kind = of_rank.kind();
    }
  });
  return kind;
}

/// Converts the edges of one rank to blocks; workers convert one block at a time.
class share_reader {
 public:
  share_reader(const id_span& sources, const id_span& targets, const weight_span& weights,
               io::weight_kind kind, std::uint64_t limit)
      : sources_(sources), targets_(targets), weights_(weights), kind_(kind), limit_(limit) {}

  /// Throws usage_error.
  [[nodiscard]] io::edge_block block(std::uint64_t begin, std::uint64_t end) const {
    io::edge_block made;
    std::visit(
        [&](auto from, auto to) {
          const auto largest_id = std::max(largest(from, begin, end), largest(to, begin, end));
          if (largest_id < no_vertex<std::uint32_t>) {
            made.edges = list<std::uint32_t>(from, to, begin, end);
          } else {
            made.edges = list<std::uint64_t>(from, to, begin, end);
          }
        },
        sources_, targets_);
    if (kind_ == io::weight_kind::integer) made.weights = weights_as<std::int32_t>(begin, end);
    if (kind_ == io::weight_kind::real) made.weights = weights_as<double>(begin, end);
    return made;
  }

 private:
  template <class T>
  std::uint64_t largest(std::span<const T> ids, std::uint64_t begin, std::uint64_t end) const {
    std::uint64_t found = 0;
    for (auto i = begin; i < end; ++i) {
      const auto id = static_cast<std::uint64_t>(ids[i]);
      if (std::cmp_less(ids[i], 0) || id >= limit_) fail_id(std::to_string(ids[i]), i);
      found = std::max(found, id);
    }
    return found;
  }

  [[noreturn]] void fail_id(const std::string& id, std::uint64_t i) const {
    const auto limit = limit_ == max_id ? std::string("2^64 - 1") : std::to_string(limit_);
    throw usage_error("from_edges: edge " + std::to_string(i) + " of a rank has the id " + id +
                      ", expected an id in [0, " + limit + ")");
  }

  template <class Id>
  static std::vector<edge<Id>> list(auto from, auto to, std::uint64_t begin, std::uint64_t end) {
    std::vector<edge<Id>> edges;
    edges.reserve(end - begin);
    for (auto i = begin; i < end; ++i) {
      edges.push_back({static_cast<Id>(from[i]), static_cast<Id>(to[i])});
    }
    return edges;
  }

  template <class To>
  std::vector<To> weights_as(std::uint64_t begin, std::uint64_t end) const {
    std::vector<To> made;
    made.reserve(end - begin);
    std::visit(
        [&](const auto& weights) {
          if constexpr (!std::is_same_v<std::remove_cvref_t<decltype(weights)>, std::monostate>) {
            for (auto i = begin; i < end; ++i) {
              made.push_back(static_cast<To>(weights[i]));
              if (std::isfinite(static_cast<double>(weights[i]))) continue;
              throw usage_error("from_edges: the weight of edge " + std::to_string(i) +
                                " of a rank is not finite");
            }
          }
        },
        weights_);
    return made;
  }

  const id_span& sources_;
  const id_span& targets_;
  const weight_span& weights_;
  io::weight_kind kind_;
  std::uint64_t limit_;
};

}  // namespace

any_graph from_edges(world& w, const id_span& sources, const id_span& targets,
                     const weight_span& weights, const from_edges_options& options) {
  const auto num_edges = length_of(sources);
  w.agree([&] {
    if (length_of(targets) != num_edges ||
        (weights.index() != 0 && length_of(weights) != num_edges)) {
      throw usage_error("from_edges: sources, targets and weights differ in length");
    }
  });
  io::raw_edges edges;
  edges.declared_vertices = options.num_vertices;
  edges.directed = options.directed;
  edges.weights = agree_on_weights(w, share_of(weights, num_edges));
  edges.blocks.resize((num_edges + block_edges - 1) / block_edges);
  const auto limit = options.num_vertices.value_or(max_id);
  const share_reader reader(sources, targets, weights, edges.weights, limit);
  w.agree([&] {
    task::parallel_for(w.pool(), {.elements = edges.blocks.size(), .chunk = 1},
                       [&](worker_t, std::size_t i, std::size_t) {
                         const auto begin = i * block_edges;
                         edges.blocks[i] =
                             reader.block(begin, std::min(num_edges, begin + block_edges));
                       });
  });
  auto names = relabel(w, edges);
  names = reorder(w, edges, names, options.order, options.order_seed);
  return build_any(w, std::move(edges), std::move(names), options.build);
}

}  // namespace cairn::graph
