// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <variant>

#include <cairn/algo/algorithm.hpp>
#include <cairn/algo/fields.hpp>

namespace cairn::algo {

/// The arguments of the functions of a declaration.
template <class D, class Id>
struct call {
  using id_type = Id;

  world& w;
  const graph::dist_csr<Id>& g;
  typename D::options opt;
  run_request request = {};
  const typename D::template built<Id>* built = nullptr;  ///< the result of D::build for the graph

  /// The vertex that an option names, or `otherwise` if the option was not given.
  ///
  /// Throws    usage_error if the graph has no such vertex, or if ids are numbers and the value is
  ///           not one
  [[nodiscard]] Id vertex(std::string_view name, const vertex_option& option,
                          std::uint64_t otherwise) const {
    if (option.id.empty()) return static_cast<Id>(otherwise);
    if (std::uint64_t id = 0; !g.labels().textual() && !read_integer(option.id, id)) {
      throw usage_error("--" + std::string(name) + ": '" + option.id +
                        "' is not an integer from 0 to 2^64 - 1");
    }
    if (const auto v = g.labels().vertex_of(std::string_view(option.id)))
      return static_cast<Id>(*v);
    throw usage_error("--" + std::string(name) + " " + option.id + " is not a vertex of the graph");
  }
  /// A file's column as a vertex map.
  template <class T>
  [[nodiscard]] pgas::vertex_map<T> map_of(const own_values& values) const {
    pgas::vertex_map<T> map(w, g.partition(), T{});
    std::visit(
        [&](const auto& all) {
          std::transform(all.begin(), all.end(), map.local().begin(), [](auto x) {
            if constexpr (std::is_integral_v<T>) {
              if (!(x < static_cast<decltype(x)>(no_vertex<T>))) return no_vertex<T>;
            }
            return static_cast<T>(x);
          });
        },
        values);
    return map;
  }
};

/// Defaults for the optional parts of a declaration. A declaration derives from it and has
///
///   info                 an algorithm_info
///   result<Id>           an aggregate with fields(): vertex maps are columns, the rest are facts
///   run(call, start)     the timed part; returns a result, or a variant of results
///   verify(call, start, result)          a sentence, or nothing
///   verify_column(call, name, values)    verify() for a file's column, if there are columns
///   verify_paths(call, rows)             the same for a file's rows, if info.paths
///   forest(call, result)                 forest_rows, if info.forest
///   verify_forest(call, rows)            verify() for a file's edges, if info.forest
///   check_against_reference(ref::input, options, ref::output)   a sentence, or ""
struct declaration {
  struct options {
    static constexpr auto fields() { return std::tuple(); }
  };
  struct nothing {
    static constexpr auto fields() { return std::tuple(); }
  };
  /// Throws usage_error unless the options are consistent.
  static void check_options(const auto& /*options*/) {}
  /// Whether runs depend on the seed.
  static constexpr bool uses_seed(const auto& /*options*/) { return false; }
  static constexpr std::string_view without_operators(const auto& /*options*/, const world&) {
    return {};
  }
  static constexpr bool sends_directly(const auto& /*options*/) { return false; }
  static constexpr std::string_view without_queues(const auto& /*options*/) {
    return "works in supersteps";
  }
  static constexpr std::string_view without_lead(const auto& /*options*/) {
    return "works in supersteps";
  }
  /// Data built once for all `runs`, if that pays off; its time counts as building.
  template <class Id>
  using built = nothing;
  static nothing build(const auto& /*call*/, std::uint64_t /*runs*/) { return {}; }
  /// Draws the values that the options leave open, such as a root; not timed. Throws usage_error.
  static nothing start(const auto& /*call*/) { return {}; }
  /// Additional facts computed from the result, reported before the result's own; not timed.
  static nothing extra_facts(const auto& /*call*/, const auto& /*start*/, const auto& /*result*/) {
    return {};
  }
  /// Input edges that the run traversed.
  static std::uint64_t edges(const auto& /*call*/, const auto& /*extra*/, const auto& /*result*/) {
    return 0;
  }
  static constexpr bool counts_teps = false;
  static std::optional<std::string> verify_column(const auto& /*call*/, std::string_view,
                                                  const own_values&) {
    return std::nullopt;
  }
};

}  // namespace cairn::algo
