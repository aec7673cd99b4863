// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <type_traits>

#include <cairn/algo/declared.hpp>
#include <cairn/algo/ref/walk.hpp>
#include <cairn/algo/walk.hpp>
#include <cairn/base/format.hpp>
#include <cairn/base/random.hpp>

namespace cairn::algo {
namespace {

// Keys are less than this, so that JSON numbers represent them exactly.
constexpr std::uint64_t num_keys = std::uint64_t{1} << 53;

void expect_at_most(std::string_view name, std::uint64_t value, std::uint64_t max) {
  if (value <= max) return;
  throw usage_error("--" + std::string(name) + " is " + std::to_string(value) +
                    ", expected at most " + std::to_string(max));
}

// Larger sizes exceed any memory, and their number of bytes may overflow 64 bits.
void expect_room_for_paths(const walk_options& opt) {
  constexpr std::uint64_t max = std::uint64_t{1} << 48;
  if (opt.walkers <= max / (opt.length + 1)) return;
  throw usage_error("--paths: " + std::to_string(opt.walkers) + " walks of length " +
                    std::to_string(opt.length) + " are more than 2^48 vertices");
}

struct walk_declaration : declaration {
  static constexpr algorithm_info info{
      .name = "walk",
      .summary = "Random walks: how often each vertex is visited",
      .check = "Walk again with a message for each step, and compare all visits and paths",
      .verify_options = words<"walkers", "length", "key", "p", "q">,
      .paths = true,
      .no_operators = "walkers are messages, not operators"};
  struct options {
    automatic_number walkers;
    std::uint64_t length = walk_options().length;
    std::optional<std::uint64_t> key;
    double p = walk_options().p, q = walk_options().q;

    static constexpr auto fields() {
      using o = options;
      return std::tuple(
          field{"walkers", &o::walkers,
                "Number of walkers; auto: half of the vertices, at least one"},
          field{"length", &o::length, "Maximum number of steps of a walker"},
          field{"key", &o::key, "Key of the random draws"}.if_absent("drawn by --seed, per trial"),
          field{"p", &o::p, "node2vec: an edge to the previous vertex has weight 1/p"},
          field{"q", &o::q,
                "node2vec: an edge to a vertex not adjacent to the previous one has "
                "weight 1/q"});
    }
  };
  template <class Id>
  using result = walk_result<Id>;

  static void check_options(const options& o) {
    expect_at_most("walkers", o.walkers.number.value_or(0), std::uint64_t{1} << 63);
    expect_at_most("length", o.length, (std::uint64_t{1} << 32) - 1);
    expect_at_most("key", o.key.value_or(0), num_keys - 1);
    if (!(o.p > 0 && std::isfinite(o.p))) {
      throw usage_error("--p is " + format_number(o.p) + ", expected a finite number above 0");
    }
    if (!(o.q >= 1 / max_walk_bias && o.q <= max_walk_bias)) {
      throw usage_error("--q is " + format_number(o.q) + ", expected a number from " +
                        format_number(1 / max_walk_bias) + " to " + format_number(max_walk_bias));
    }
  }
  static bool uses_seed(const options& o) { return !o.key; }

  static walk_options completed(const options& o, std::uint64_t n, std::uint64_t key) {
    const auto half = std::max(n / 2, std::min(n, std::uint64_t{1}));
    return {o.walkers.number.value_or(half), o.length, key, o.p, o.q};
  }
  static walk_options start(const auto& c) {
    if (c.g.num_vertices() == 0 && c.opt.walkers.number.value_or(0) != 0) {
      throw usage_error("the graph has no vertices");
    }
    const auto drawn = random64(c.request.seed).stream(c.request.trial).below(num_keys);
    auto opt = completed(c.opt, c.g.num_vertices(), c.opt.key.value_or(drawn));
    opt.paths = c.request.paths;
    if (opt.paths) expect_room_for_paths(opt);
    return opt;
  }
  static auto run(const auto& c, const walk_options& opt) { return walk(c.w, c.g, opt); }
  template <class Id>
  static std::uint64_t edges(const auto&, nothing, const walk_result<Id>& r) {
    return r.steps;
  }
  template <class Id>
  static auto verify(const auto& c, const walk_options& opt, const walk_result<Id>& r) {
    return verify_walk(c.w, c.g, opt, r.visits, walk_totals{r.steps, r.ended_early},
                       r.paths ? &*r.paths : nullptr);
  }
  static auto verify_column(const auto& c, std::string_view, const own_values& values) {
    if (!c.opt.key) throw usage_error("verifying the result of a walk needs its --key");
    return verify_walk(c.w, c.g, start(c), c.template map_of<std::uint64_t>(values));
  }

  template <class Id>
  static walk_paths<Id> own_paths(const walk_options& opt, std::size_t row_size,
                                  const listed_rows& all, world& w) {
    const pgas::partition_view walkers(opt.walkers, w.size());
    walk_paths<Id> own{walkers, walkers.first(w.rank()), row_size, {}};
    own.vertices.assign(walkers.size(w.rank()) * own.row_size, no_vertex<Id>);
    for (std::uint64_t i = own.first; i < walkers.last(w.rank()); ++i) {
      const auto begin = i == 0 ? 0 : all.ends[i - 1];
      std::ranges::transform(all.vertices.subspan(begin, all.ends[i] - begin),
                             own.vertices.data() + (i - own.first) * own.row_size,
                             [](std::uint64_t v) { return static_cast<Id>(v); });
    }
    return own;
  }
  static std::optional<std::string> verify_paths(const auto& c, const listed_rows& all) {
    using Id = typename std::remove_cvref_t<decltype(c)>::id_type;
    if (!c.opt.key && (c.opt.p != 1 || c.opt.q != 1)) {
      throw usage_error("--p and --q have no effect on the verification of paths without --key");
    }
    const auto opt = start(c);
    if (all.ends.size() != opt.walkers) {
      return "there are " + std::to_string(all.ends.size()) + " walks, expected " +
             std::to_string(opt.walkers) + " (--walkers)";
    }
    std::uint64_t most_steps = 0;
    for (std::size_t i = 0; i < all.ends.size(); ++i) {
      const auto steps = all.ends[i] - (i == 0 ? 0 : all.ends[i - 1]) - 1;
      most_steps = std::max(most_steps, steps);
      if (steps <= opt.length) continue;
      return "walk " + std::to_string(i + 1) + " has " + std::to_string(steps) +
             " steps, expected at most " + std::to_string(opt.length) + " (--length)";
    }
    // A row that ends with no_vertex is that of a walk which ended early.
    const auto row_size = std::min(opt.length, most_steps + 1) + 1;
    const auto paths = own_paths<Id>(opt, row_size, all, c.w);
    const auto checked = verify_walk_paths(c.w, c.g, paths);
    if (checked.wrong || !c.opt.key) return checked.wrong;
    return verify_walk(c.w, c.g, opt, checked.visits, std::nullopt, &paths);
  }

  static std::string check_against_reference(const ref::input& g, const options& o,
                                             const ref::output& found) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> arcs;
    for (const auto& e : g.edges) {
      arcs.emplace_back(e.source, e.target);
      if (!g.directed && e.source != e.target) arcs.emplace_back(e.target, e.source);
    }
    const auto key = static_cast<std::uint64_t>(found.numbers.at("key"));
    const auto opt = completed(o, g.num_vertices, key);
    const auto draws_of = [&](std::uint64_t walker) { return random64(key).stream(walker); };
    const auto counts = ref::random_walks(g.num_vertices, arcs, opt.walkers, opt.length, draws_of,
                                          ref::walk_bias{opt.p, opt.q});
    if (o.key && *o.key != key) return "the key differs from --key";
    const auto is = [&](std::string_view name, std::uint64_t expected) {
      return found.numbers.find(name)->second == static_cast<double>(expected);
    };
    if (!is("walkers", opt.walkers)) return "the number of walkers is wrong";
    if (!is("steps", counts.steps)) return "the number of steps is wrong";
    if (!is("ended_early", counts.ended_early))
      return "the number of walkers that ended early is wrong";
    return found.integers.at("visits") == counts.visits ? "" : "the visits of a vertex are wrong";
  }
};

}  // namespace

const algorithm& walk_algorithm() {
  static const declared<walk_declaration> a;
  return a;
}

}  // namespace cairn::algo
