// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <cairn/algo/declared_run.hpp>
#include <cairn/algo/file_column.hpp>

namespace cairn::algo {

/// The algorithm that a declaration describes.
template <class D>
class declared final : public algorithm {
 public:
  [[nodiscard]] const algorithm_info& info() const noexcept override { return D::info; }
  [[nodiscard]] bool counts_teps() const noexcept override { return D::counts_teps; }

  [[nodiscard]] std::vector<option_info> options() const override {
    std::vector<option_info> all;
    const typename D::options initial{};
    each_field<typename D::options>([&]<class Of, class T>(const field<Of, T>& f) {
      all.push_back({f.name, f.meaning, f.letter,
                     f.absent.empty() ? option_text(initial.*f.member) : std::string(f.absent),
                     type_of<T>(), enum_names_in<T>()});
    });
    return all;
  }
  [[nodiscard]] std::vector<column_info> columns() const override {
    std::vector<column_info> all;
    each_field<typename D::template result<std::uint32_t>>(
        [&]<class Of, class T>(const field<Of, T>& f) {
          if constexpr (detail::is_map<T>) {
            all.push_back({f.name, f.kind, f.partial, detail::is_real_map<T>});
          }
        });
    return all;
  }

  void check_options(const option_values& given) const override { D::check_options(read(given)); }
  [[nodiscard]] bool uses_seed(const option_values& given) const override {
    return D::uses_seed(read(given));
  }
  [[nodiscard]] std::string_view without_operators(const option_values& given,
                                                   const world& w) const override {
    if (!D::info.no_operators.empty()) return D::info.no_operators;
    return D::without_operators(read(given), w);
  }
  [[nodiscard]] bool sends_directly(const option_values& given) const override {
    return D::info.direct || D::sends_directly(read(given));
  }
  [[nodiscard]] std::string_view without_queues(const option_values& given) const override {
    return D::without_queues(read(given));
  }
  [[nodiscard]] std::string_view without_lead(const option_values& given) const override {
    return D::without_lead(read(given));
  }
  [[nodiscard]] std::unique_ptr<bound_graph> bind(world& w, const graph::any_graph& g,
                                                  const option_values& given,
                                                  std::uint64_t runs) const override {
    auto opt = read(given);
    D::check_options(opt);
    return std::visit(
        [&]<class Id>(const graph::dist_csr<Id>& x) -> std::unique_ptr<bound_graph> {
          return std::make_unique<detail::bound<D, Id>>(w, x, std::move(opt), runs);
        },
        g);
  }
  [[nodiscard]] std::optional<std::string> verify_column(
      world& w, const graph::any_graph& g, std::string_view name, const own_values& values,
      const option_values& given) const override {
    return std::visit(
        [&]<class Id>(const graph::dist_csr<Id>& x) {
          auto taken = values;
          const file_column column{w, x.labels(), x.partition().first(w.rank()), name};
          std::optional<std::string> wrong;
          each_field<typename D::template result<Id>>(
              [&]<class Of, class T>(const field<Of, T>& f) {
                if constexpr (detail::is_map<T>) {
                  if (f.name == name) wrong = column.take(f.kind, f.partial, max_of<T>(), taken);
                }
              });
          if (wrong) return wrong;
          return D::verify_column(call<D, Id>{w, x, read(given)}, name, taken);
        },
        g);
  }
  [[nodiscard]] std::optional<std::string> verify_paths(world& w, const graph::any_graph& g,
                                                        const listed_rows& all,
                                                        const option_values& given) const override {
    if constexpr (D::info.paths) {
      return with_call(w, g, given, [&](const auto& c) { return D::verify_paths(c, all); });
    }
    return std::nullopt;
  }
  [[nodiscard]] std::optional<std::string> verify_forest(
      world& w, const graph::any_graph& g, const graph::io::raw_edges& rows,
      const option_values& given) const override {
    if constexpr (D::info.forest) {
      return with_call(w, g, given, [&](const auto& c) { return D::verify_forest(c, rows); });
    }
    return std::nullopt;
  }
  [[nodiscard]] std::string check_against_reference(const ref::input& g, const option_values& given,
                                                    const ref::output& found) const override {
    return D::check_against_reference(g, read(given), found);
  }

 private:
  using options_type = typename D::options;

  // Returns f(call of the graph's type).
  static auto with_call(world& w, const graph::any_graph& g, const option_values& given,
                        const auto& f) {
    return std::visit(
        [&]<class Id>(const graph::dist_csr<Id>& x) {
          return f(call<D, Id>{w, x, read(given)});
        },
        g);
  }

  static options_type read(const option_values& given) {
    options_type opt;
    each_field<options_type>([&](const auto& f) {
      const auto at = given.find(f.name);
      if (at != given.end()) read_option(f.name, at->second, opt.*f.member);
    });
    return opt;
  }
  // Largest valid value in a map; unused for maps of reals.
  template <class Map>
  static constexpr std::uint64_t max_of() {
    using T = typename Map::value_type;
    if constexpr (std::is_integral_v<T>) {
      return no_vertex<T> - 1;
    } else if constexpr (std::is_floating_point_v<T>) {
      return 0;
    } else {
      return max_of<T>();  // Map is an optional
    }
  }
  template <class T>
  static constexpr std::string_view type_of() {
    if constexpr (std::is_same_v<T, vertex_option>) {
      return "ID";
    } else if constexpr (std::is_same_v<T, automatic_number>) {
      return "auto|N";
    } else if constexpr (requires { typename T::value_type; }) {
      return type_of<typename T::value_type>();
    } else {
      return std::is_enum_v<T> ? "" : std::is_integral_v<T> ? "N" : "X";
    }
  }
  template <class T>
  static constexpr std::span<const std::string_view> enum_names_in() {
    if constexpr (std::is_enum_v<T>) return enum_names<T>;
    return {};
  }
};

}  // namespace cairn::algo
