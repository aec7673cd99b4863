// SPDX-License-Identifier: Apache-2.0
#include "cli/facts.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cairn::cli {

CLI::Option* add_algorithm_option(CLI::App& command, const algo::option_info& o,
                                  algo::option_values& given, std::string_view meaning) {
  auto name = "--" + std::string(o.name);
  if (o.letter != 0) name += std::string(",-") + o.letter;
  const auto keep = [&given, key = std::string(o.name)](const std::string& value) {
    given[key] = value;
  };
  auto* const option = command.add_option_function<std::string>(name, keep, std::string(meaning));
  if (!o.words.empty()) {
    option->check(CLI::IsMember(std::vector<std::string>(o.words.begin(), o.words.end())));
  } else {
    option->type_name(std::string(o.type));
  }
  if (o.type == "N") option->check(unsigned_integer());
  return option;
}

const graph::labels& labels_of(const graph::any_graph& g) {
  return std::visit([](const auto& x) -> const graph::labels& { return x.labels(); }, g);
}

void expect_directions(const algo::algorithm& a, const graph::any_graph& g,
                       const input_options& in) {
  const auto why = a.info().undirected;
  const bool directed = std::visit([](const auto& x) { return x.directed(); }, g);
  if (!directed || why.empty()) return;
  throw usage_error(fmt::format("{} is directed: {} (--symmetrize)", path_of(in), why));
}

namespace {

// Calls f(label, value) for each fact; a vertex is passed as the text of its id.
void each_fact(const algo::run_result& found, const graph::any_graph& g, auto&& f) {
  const auto& names = labels_of(g);
  for (const auto& [name, value] : found.facts()) {
    std::visit(
        [&, label = std::string(name)](const auto& x) {
          if constexpr (std::is_same_v<std::remove_cvref_t<decltype(x)>, algo::vertex_id>) {
            f(label, id_in_json(names, x.vertex));
          } else {
            f(label, x);
          }
        },
        value);
  }
}

}  // namespace

json facts_of(const algo::run_result& found, const graph::any_graph& g) {
  json all = json::object();
  each_fact(found, g, [&](const std::string& name, const auto& x) { all[name] = x; });
  return all;
}

void say_facts(report& r, const algo::algorithm& a, const algo::run_result& found,
               const graph::any_graph& g) {
  const auto options = a.options();
  each_fact(found, g, [&](std::string label, const auto& x) {
    using T = std::remove_cvref_t<decltype(x)>;
    const bool is_option =
        std::ranges::find(options, label, &algo::option_info::name) != options.end();
    std::ranges::replace(label, '_', ' ');
    if constexpr (std::is_same_v<T, bool>) {
      r.line(label, x ? "yes" : "no");
    } else if constexpr (std::is_same_v<T, std::uint64_t>) {
      r.line(label, is_option ? std::to_string(x) : format_count(x));
    } else if constexpr (std::is_same_v<T, json>) {
      r.line(label, x.is_string() ? x.template get<std::string>() : x.dump());
    } else if constexpr (std::is_same_v<T, double>) {
      r.line(label, fmt::format("{:.6g}", x));
    } else {
      r.line(label, fmt::format("{}", x));
    }
  });
}

int conclude(const world& w, report& r, bool verified, const std::string& broken) {
  if (verified) r.line("verified", broken.empty() ? "yes" : "NO: " + broken);
  r.print(w);
  if (!broken.empty() && w.rank() == 0) say("verification failed: " + broken);
  return broken.empty() ? 0 : 1;
}

}  // namespace cairn::cli
