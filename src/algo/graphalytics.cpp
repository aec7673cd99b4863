// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

#include <cairn/algo/graphalytics.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/graph/io/scan.hpp>
#include <cairn/graph/io/text_source.hpp>

namespace cairn::algo {
namespace {

namespace io = graph::io;

constexpr std::array<graphalytics_algorithm, 6> all_six{{
    {"bfs", "BFS", "bfs", "depth", agreement::exact},
    {"pr", "PR", "pagerank", "rank", agreement::close},
    {"wcc", "WCC", "cc", "component", agreement::renamed},
    {"cdlp", "CDLP", "cdlp", "label", agreement::exact},
    {"lcc", "LCC", "lcc", "lcc", agreement::close},
    {"sssp", "SSSP", "sssp", "distance", agreement::close},
}};

constexpr double infinity = std::numeric_limits<double>::infinity();
template <class T>
constexpr T unreached = std::numeric_limits<std::int64_t>::max();
template <>
constexpr double unreached<double> = infinity;

const char* scan_value(const char* p, const char* end, std::uint64_t& value) {
  return io::scan_id(p, end, value);
}
const char* scan_value(const char* p, const char* end, double& value) {
  constexpr std::string_view word = "infinity";
  const std::string_view rest(p, static_cast<std::size_t>(end - p));
  if (!rest.starts_with(word)) return io::scan_real(p, end, value, "value");
  value = infinity;
  return p + word.size();
}

// The rows of a reference output.
template <class T>
class output_rows {
 public:
  output_rows(const graph::labels& names) : names_(names), values_(names.size()) {
    seen_.resize(names.size());
  }

  void read_block(std::string_view text) {
    const char* const end = text.data() + text.size();
    for (const char* p = text.data(); p != end;) {
      const char* behind = io::end_of_line(p, end);
      p = behind == nullptr ? read_row(io::skip_blanks(p), end) : behind;
    }
  }

  std::vector<T> take(const std::string& path) {
    const auto at = std::find(seen_.begin(), seen_.end(), 0);
    if (at == seen_.end()) return std::move(values_);
    const auto id = names_.id_at(static_cast<std::uint64_t>(at - seen_.begin()));
    throw input_error::in_file(path, "has no row for vertex " + std::to_string(id) +
                                         ", expected one for each of " +
                                         std::to_string(names_.size()) + " vertices");
  }

 private:
  const char* read_row(const char* p, const char* end) {
    std::uint64_t id = 0;
    const char* const start = p;
    p = io::scan_id(p, end, id);
    const auto v = names_.vertex_of(id);
    if (!v) io::fail_expected(start, end, "a vertex of the graph");
    const auto at = names_.position_of(*v);
    if (std::atomic_ref(seen_[at]).exchange(1, std::memory_order_relaxed) != 0) {
      io::fail_expected(start, end, "one row per vertex");
    }
    const char* const value = io::skip_blanks(p);
    if (value == p) io::fail_expected(p, end, "a blank and a value");
    p = scan_value(value, end, values_[at]);
    const char* const behind = io::end_of_line(p, end);
    if (behind == nullptr) io::fail_expected(io::skip_blanks(p), end, "the end of the line");
    return behind;
  }

  const graph::labels& names_;
  std::vector<T> values_;           // by position
  std::vector<std::uint8_t> seen_;  // by position
};

template <class T>
std::vector<T> read_rows(task::pool& workers, const std::string& path, const graph::labels& names) {
  constexpr std::size_t block_bytes = std::size_t{4} << 20;
  const io::text_source source(path, block_bytes);
  output_rows<T> rows(names);
  const auto fault = source.for_each_block(
      workers, {}, [&](worker_t, const io::text_block& block) { rows.read_block(block.text); });
  if (fault) throw source.error(*fault);
  return rows.take(path);
}

bool agree(std::uint64_t expected, std::uint64_t found) { return expected == found; }
bool agree(double expected, double found) {
  constexpr double tolerance = 1e-4;
  if (expected == found || !std::isfinite(expected)) return expected == found;
  return std::abs(found - expected) <= tolerance * std::abs(expected);
}

std::optional<std::uint64_t> first_renaming_violation(const std::vector<std::uint64_t>& expected,
                                                      const std::vector<std::uint64_t>& found) {
  std::unordered_map<std::uint64_t, std::uint64_t> to_found, to_expected;
  for (std::uint64_t i = 0; i < expected.size(); ++i) {
    if (to_found.try_emplace(expected[i], found[i]).first->second != found[i]) return i;
    if (to_expected.try_emplace(found[i], expected[i]).first->second != expected[i]) return i;
  }
  return std::nullopt;
}

std::string text_of(std::uint64_t x) { return std::to_string(x); }
std::string text_of(double x) {
  if (x == infinity) return "infinity";
  std::array<char, 32> text;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), x).ptr};
}

// The column of a result by position on rank 0, as reference outputs write it. Collective.
template <class To, class T>
std::vector<To> gather_by_position(world& w, const graph::labels& names,
                                   const pgas::vertex_map<T>& map, value_kind kind) {
  constexpr std::uint64_t at_once = 1 << 20;
  const auto in_file = [&](T x) {
    if constexpr (std::is_integral_v<T>) {
      if (x == no_vertex<T>) return unreached<To>;
      if (kind != value_kind::numbers) return static_cast<To>(names.id_of(x));
    }
    return static_cast<To>(x);
  };
  std::vector<To> all(w.rank() == 0 ? names.size() : 0);
  const auto end = map.first() + map.local().size();
  for (std::uint64_t first = 0; first < names.size(); first += at_once) {
    const auto last = std::min(names.size(), first + at_once);
    std::vector<To> mine;
    for (auto v = std::max(first, map.first()); v < std::min(last, end); ++v) {
      mine.push_back(in_file(map.load(v)));
    }
    const auto values = w.all_gather_values<To>(mine);
    if (w.rank() != 0) continue;
    for (auto v = first; v < last; ++v) all[names.position_of(v)] = values[v - first];
  }
  return all;
}

own_values gather(world& w, const graph::labels& names, const run_result& result,
                  const graphalytics_algorithm& which) {
  for (const auto& c : result.columns()) {
    if (c.name != which.column) continue;
    return std::visit(
        [&](const auto* map) -> own_values {
          if (which.rule == agreement::close) {
            return gather_by_position<double>(w, names, *map, c.kind);
          }
          return gather_by_position<std::uint64_t>(w, names, *map, c.kind);
        },
        c.values);
  }
  throw contract_violation("there is no column " + std::string(which.column));
}

option_values options_for(const graph::graphalytics_dataset& from, const graph::labels& names,
                          const graphalytics_algorithm& which) {
  const auto& settings = from.settings();
  const auto key = [&](std::string_view parameter) {
    return from.key(std::string(which.name) + "." + std::string(parameter));
  };
  option_values given;
  if (which.name == "bfs" || which.name == "sssp") {
    const auto source = settings.integer(key("source-vertex"));
    if (!names.vertex_of(source)) {
      throw settings.unexpected(key("source-vertex"), "a vertex of " + from.vertex_file());
    }
    given["source"] = std::to_string(source);
  }
  if (which.name == "sssp") {
    const auto& weight = settings.text(key("weight-property"));
    if (!from.weighted() || settings.text(from.key("edge-properties.names")) != weight) {
      throw settings.unexpected(key("weight-property"), "the name in edge-properties.names");
    }
  }
  if (which.name == "cdlp") {
    given["iterations"] = std::to_string(settings.integer(key("max-iterations")));
  }
  if (which.name == "pr") {
    const auto damping = settings.real(key("damping-factor"));
    if (!(damping >= 0 && damping < 1)) {
      throw settings.unexpected(key("damping-factor"), "0 <= damping < 1");
    }
    given = {{"convention", "graphalytics"},
             {"precision", "double"},
             {"damping", text_of(damping)},
             {"iterations", std::to_string(settings.integer(key("num-iterations")))}};
  }
  return given;
}

std::string from_rank_0(world& w, const std::string& text) {
  const auto all = w.all_gather_bytes(std::as_bytes(std::span(text)));
  return {reinterpret_cast<const char*>(all[0].data()), all[0].size()};
}

}  // namespace

const graphalytics_algorithm& graphalytics_algorithm_of(const graph::graphalytics_dataset& from,
                                                        std::string_view name) {
  for (const auto& a : all_six) {
    if (a.name == name) return a;
  }
  throw from.settings().unexpected(from.key("algorithms"), "bfs, cdlp, lcc, pr, sssp or wcc");
}

own_values read_graphalytics_output(task::pool& workers, const std::string& path,
                                    const graph::labels& names, agreement rule) {
  if (rule == agreement::close) return read_rows<double>(workers, path, names);
  return read_rows<std::uint64_t>(workers, path, names);
}

std::optional<std::uint64_t> first_disagreement(agreement rule, const own_values& expected,
                                                const own_values& found) {
  CAIRN_EXPECTS(expected.index() == found.index());
  return std::visit(
      [&]<class T>(const std::vector<T>& a) -> std::optional<std::uint64_t> {
        const auto& b = std::get<std::vector<T>>(found);
        CAIRN_EXPECTS(a.size() == b.size());
        if constexpr (std::is_integral_v<T>) {
          if (rule == agreement::renamed) return first_renaming_violation(a, b);
        }
        for (std::uint64_t i = 0; i < a.size(); ++i) {
          if (!agree(a[i], b[i])) return i;
        }
        return std::nullopt;
      },
      expected);
}

graphalytics_outcome run_graphalytics(world& w, const graph::any_graph& g,
                                      const graph::graphalytics_dataset& from,
                                      const graphalytics_algorithm& which,
                                      const activity::options& activity,
                                      const std::function<void()>& begins,
                                      const std::function<void()>& ended) {
  const auto& names =
      std::visit([](const auto& x) -> const graph::labels& { return x.labels(); }, g);
  const auto is_command = [&](const algorithm* a) { return a->info().name == which.command; };
  const auto& a = **std::find_if(algorithms().begin(), algorithms().end(), is_command);
  option_values given;
  own_values expected;
  w.agree([&] {
    given = options_for(from, names, which);
    const auto file = from.reference_file(which.ending);
    if (w.rank() == 0) expected = read_graphalytics_output(w.pool(), file, names, which.rule);
  });
  w.barrier();
  begins();
  const auto begin = w.clock().now_ns();
  const auto bound = [&] {
    try {
      return a.bind(w, g, given, 1);
    } catch (const input_error& e) {
      throw input_error::in_file(from.edge_file(), e.what());
    }
  }();
  const auto run = bound->prepare({.activity = activity, .output = which.column});
  const auto result = run->run();
  w.barrier();
  graphalytics_outcome outcome{static_cast<double>(w.clock().now_ns() - begin) * 1e-9, names.size(),
                               std::nullopt};
  ended();
  const auto found = gather(w, names, *result, which);
  const auto position =
      w.rank() == 0 ? first_disagreement(which.rule, expected, found) : std::nullopt;
  if (!w.any(position.has_value())) return outcome;
  const auto at = position.value_or(0);
  const auto text_at = [&](const own_values& values) {
    const auto text = std::visit(
        [&](const auto& all) { return at < all.size() ? text_of(all[at]) : ""; }, values);
    return from_rank_0(w, text);
  };
  outcome.wrong = {names.id_at(w.sum(at)), text_at(expected), text_at(found)};
  return outcome;
}

}  // namespace cairn::algo
