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

#include <cairn/algo/declaration.hpp>
#include <cairn/base/contract.hpp>

// The runs of a declared algorithm.
namespace cairn::algo {
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
    if constexpr (std::is_same_v<T, std::optional<std::uint64_t>>) {
      if (member) to.push_back({f.name, to_fact(*member, f.kind)});
    } else if constexpr (!is_map<T> && !std::is_same_v<T, activity::ran>) {
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
  [[nodiscard]] std::optional<forest_rows> forest() const override {
    if constexpr (D::info.forest) return D::forest(call_, result_);
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

}  // namespace cairn::algo
