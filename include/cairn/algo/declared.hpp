// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <cairn/algo/algorithm.hpp>
#include <cairn/algo/fields.hpp>
#include <cairn/algo/file_column.hpp>
#include <cairn/base/contract.hpp>

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
  [[nodiscard]] Id vertex(std::string_view name, const vertex_option& asked,
                          std::uint64_t otherwise) const {
    if (asked.id.empty()) return static_cast<Id>(otherwise);
    if (std::uint64_t id = 0; !g.labels().textual() && !read_whole(asked.id, id)) {
      throw usage_error("--" + std::string(name) + ": '" + asked.id +
                        "' is not a whole number from 0 to 2^64 - 1");
    }
    if (const auto v = g.labels().vertex_of(std::string_view(asked.id))) return static_cast<Id>(*v);
    throw usage_error("--" + std::string(name) + " " + asked.id + " is not a vertex of the graph");
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

namespace detail {

template <class T>
inline constexpr bool is_map = false;
template <class T>
inline constexpr bool is_map<pgas::vertex_map<T>> = true;
template <class T>
inline constexpr bool is_map<std::optional<pgas::vertex_map<T>>> = true;
template <class T>
inline constexpr bool is_real_map =
    std::is_same_v<T, pgas::vertex_map<float>> || std::is_same_v<T, pgas::vertex_map<double>>;

template <class T>
fact_value to_fact(const T& x, value_kind kind) {
  if constexpr (std::is_enum_v<T>) {
    return std::string(enum_name(x));
  } else if constexpr (std::is_convertible_v<T, std::string_view>) {
    return std::string(x);
  } else if constexpr (std::is_same_v<T, bool>) {
    return x;
  } else if constexpr (std::is_floating_point_v<T>) {
    return double{x};
  } else if constexpr (std::is_signed_v<T>) {
    return std::int64_t{x};
  } else {
    if (kind != value_kind::numbers) return vertex_id{x};
    return std::uint64_t{x};
  }
}

template <class Described>
void add_facts(std::vector<fact>& to, const Described& from) {
  each_field<Described>([&](const auto& f) {
    const auto& member = from.*f.member;
    using T = std::remove_cvref_t<decltype(member)>;
    if constexpr (!is_map<T> && !std::is_same_v<T, activity::ran>) {
      to.push_back({f.name, to_fact(member, f.kind)});
    }
  });
}

template <class D, class Id, class Result>
class typed_run_result final : public run_result {
  using start_type = decltype(D::start(std::declval<const call<D, Id>&>()));
  using extra_type =
      decltype(D::extra_facts(std::declval<const call<D, Id>&>(), std::declval<const start_type&>(),
                              std::declval<const Result&>()));

 public:
  typed_run_result(const call<D, Id>& c, const start_type& start, Result&& result)
      : call_(c), start_(start), result_(std::move(result)) {}

  void count() override { extra_.emplace(D::extra_facts(call_, start_, result_)); }
  [[nodiscard]] std::vector<fact> facts() const override {
    std::vector<fact> all;
    add_facts(all, extra());
    add_facts(all, result_);
    return all;
  }
  [[nodiscard]] std::vector<column> columns() const override {
    std::vector<column> all;
    each_field<Result>([&](const auto& f) {
      const auto& member = result_.*f.member;
      using T = std::remove_cvref_t<decltype(member)>;
      if constexpr (is_map<T> && requires { member.has_value(); }) {
        if (member) all.push_back({f.name, f.kind, &*member});
      } else if constexpr (is_map<T>) {
        all.push_back({f.name, f.kind, &member});
      }
    });
    return all;
  }
  [[nodiscard]] std::optional<vertex_rows> paths() const override {
    if constexpr (requires { result_.paths->row_size; }) {
      if (!result_.paths) return std::nullopt;
      const auto& p = *result_.paths;
      return vertex_rows{p.walkers, p.row_size, std::span(p.vertices)};
    }
    return std::nullopt;
  }
  [[nodiscard]] const activity::ran& ran() const override { return result_.ran; }
  [[nodiscard]] std::uint64_t edges() const override { return D::edges(call_, extra(), result_); }
  [[nodiscard]] std::optional<std::string> verify() const override {
    return D::verify(call_, start_, result_);
  }

 private:
  [[nodiscard]] const extra_type& extra() const {
    CAIRN_EXPECTS(extra_.has_value(), "count() comes before facts() and edges()");
    return *extra_;
  }

  const call<D, Id>& call_;
  const start_type& start_;
  const Result result_;
  std::optional<extra_type> extra_;
};

template <class D, class Id>
class run_of final : public prepared_run {
 public:
  explicit run_of(const call<D, Id>& c) : call_(c), start_(D::start(call_)) {}

  [[nodiscard]] std::unique_ptr<run_result> run() override {
    return make_result(D::run(call_, start_));
  }

 private:
  template <class Result>
  [[nodiscard]] std::unique_ptr<run_result> make_result(Result&& result) const {
    return std::make_unique<typed_run_result<D, Id, Result>>(call_, start_, std::move(result));
  }
  template <class... Results>
  [[nodiscard]] std::unique_ptr<run_result> make_result(std::variant<Results...>&& result) const {
    return std::visit([&](auto&& r) { return make_result(std::move(r)); }, std::move(result));
  }

  const call<D, Id> call_;
  const decltype(D::start(std::declval<const call<D, Id>&>())) start_;
};

template <class D, class Id>
class bound final : public bound_graph {
 public:
  bound(world& w, const graph::dist_csr<Id>& g, typename D::options opt, std::uint64_t runs)
      : call_{w, g, std::move(opt)}, built_(D::build(call_, runs)) {
    call_.built = &built_;
  }
  [[nodiscard]] std::unique_ptr<prepared_run> prepare(const run_request& r) const override {
    auto c = call_;
    c.request = r;
    return std::make_unique<run_of<D, Id>>(c);
  }

 private:
  call<D, Id> call_;
  const typename D::template built<Id> built_;
};

}  // namespace detail

/// The algorithm that a declaration describes.
template <class D>
class declared final : public algorithm {
 public:
  [[nodiscard]] const algorithm_info& info() const noexcept override { return D::info; }
  [[nodiscard]] bool counts_teps() const noexcept override { return D::counts_teps; }

  [[nodiscard]] std::vector<option_info> options() const override {
    std::vector<option_info> all;
    each_field<typename D::options>([&]<class Of, class T>(const field<Of, T>& f) {
      all.push_back({f.name, f.meaning, f.letter, type_of<T>(), enum_names_in<T>()});
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
    return D::without_operators(read(given), w);
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
                  if (f.name == name) wrong = column.take(f.kind, f.partial, most_of<T>(), taken);
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
      return std::visit(
          [&]<class Id>(const graph::dist_csr<Id>& x) {
            return D::verify_paths(call<D, Id>{w, x, read(given)}, all);
          },
          g);
    }
    return std::nullopt;
  }
  [[nodiscard]] std::string check_against_reference(const ref::input& g, const option_values& given,
                                                    const ref::output& found) const override {
    return D::check_against_reference(g, read(given), found);
  }

 private:
  using options_type = typename D::options;

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
  static constexpr std::uint64_t most_of() {
    using T = typename Map::value_type;
    if constexpr (std::is_integral_v<T>) {
      return no_vertex<T> - 1;
    } else if constexpr (std::is_floating_point_v<T>) {
      return 0;
    } else {
      return most_of<T>();  // Map is an optional
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
