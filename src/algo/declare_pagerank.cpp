// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include <cairn/algo/declared.hpp>
#include <cairn/algo/pagerank.hpp>
#include <cairn/algo/pull_layout.hpp>
#include <cairn/algo/ref/pagerank.hpp>
#include <cairn/algo/stored_layout.hpp>
#include <cairn/algo/verify_pagerank.hpp>
#include <cairn/base/format.hpp>

#include "algo/acyclic_order.hpp"
#include "algo/first_own.hpp"
#include "algo/first_sentence.hpp"
#include "algo/jacobi_sweeps.hpp"
#include "algo/layout_wanted.hpp"

namespace cairn::algo {
namespace {

enum class precision { single_, double_ };
// Storage of the sums of push and edge; off: operators.
enum class summation { automatic, partials, bins, off };

}  // namespace

template <>
inline constexpr std::span<const std::string_view> enum_names<precision> = words<"float", "double">;
template <>
inline constexpr std::span<const std::string_view> enum_names<summation> =
    words<"auto", "partials", "bins", "off">;

namespace {

struct pagerank_declaration : declaration {
  static constexpr algorithm_info info{
      .name = "pagerank",
      .summary = "PageRank of every vertex",
      .check = "Check the result by another sweep in double",
      .in_edges = true,
      .verify_options = words<"convention", "iterations", "tolerance", "damping">,
      .to_owners = true};
  struct options {
    pagerank_convention convention = pagerank_convention::gap;
    pagerank_variant variant = pagerank_variant::pull;
    pagerank_sweep sweep = pagerank_sweep::automatic;
    summation aggregate = summation::automatic;
    layout_wanted layout = layout_wanted::automatic;
    algo::precision precision = algo::precision::single_;
    std::optional<std::uint64_t> iterations;
    std::optional<double> tolerance;
    double damping = 0.85;

    static constexpr auto fields() {
      using o = options;
      return std::tuple(
          field{"convention", &o::convention,
                "Definition of PageRank: treatment of sinks, stopping rule"},
          field{"variant", &o::variant, "How contributions are applied along edges"},
          field{"sweep", &o::sweep, "Whether a sweep reads values that it has already updated"},
          field{"aggregate", &o::aggregate,
                "How push and edge sum without conflicts; off: operators with --mechanism"},
          field{"layout", &o::layout,
                "Whether pull first reorders the in-edges; auto: if that pays off in the trials"},
          field{"precision", &o::precision, "Precision of the values"},
          field{"iterations", &o::iterations, "Maximum number of sweeps", 'i'}.if_absent(
              "that of the convention"),
          field{"tolerance", &o::tolerance,
                "Stop when the total change of a sweep is less than this", 't'}
              .if_absent("that of the convention"),
          field{"damping", &o::damping, "Probability of following an edge"});
    }
  };
  template <class Id>
  using result = pagerank_result<double>;

  static pagerank_options plain(const options& o, const run_request& r = {}) {
    pagerank_options opt{.variant = o.variant,
                         .convention = o.convention,
                         .sweep = o.sweep,
                         .iterations = o.iterations,
                         .tolerance = o.tolerance,
                         .damping = o.damping,
                         .activity = r.activity};
    if (o.aggregate == summation::off) {
      opt.aggregate = std::nullopt;
    } else {
      opt.aggregate->method = static_cast<pgas::accumulation>(o.aggregate);
    }
    return opt;
  }
  static void check_options(const options& o) {
    const bool pulls = o.variant == pagerank_variant::pull;
    if (o.sweep == pagerank_sweep::in_place &&
        !(pulls && o.convention == pagerank_convention::gap)) {
      throw usage_error("--sweep in-place is for --variant pull by --convention gap");
    }
    if (o.aggregate != summation::automatic && pulls) {
      throw usage_error("--aggregate is for --variant push and edge: pull has no write conflicts");
    }
    if (o.layout != layout_wanted::automatic && !pulls) {
      throw usage_error("--layout is for --variant pull: a layout reorders in-edges");
    }
    if (o.tolerance && o.convention == pagerank_convention::graphalytics) {
      throw usage_error(
          "--tolerance has no effect with --convention graphalytics, which runs --iterations "
          "sweeps");
    }
    if (o.tolerance && !(*o.tolerance >= 0))
      throw usage_error("--tolerance is " + format_number(*o.tolerance) + ", expected at least 0");
    if (!(o.damping >= 0 && o.damping < 1)) {
      throw usage_error("--damping is " + format_number(o.damping) + ", expected 0 <= damping < 1");
    }
  }
  static std::string_view without_operators(const options& o, const world&) {
    if (o.variant == pagerank_variant::pull) return "--variant pull runs no operators";
    return o.aggregate == summation::off ? std::string_view()
                                         : "--aggregate sums without operators";
  }
  static bool sends_directly(const options& o) { return o.variant == pagerank_variant::pull; }

  // The layout in the graph's file; else a new one if requested or if it pays off in the given
  // runs. None if one sweep in the order of ids suffices.
  template <class Id>
  struct built {
    std::optional<pull_layout<Id>> layout;
    std::string_view from = "none";
  };
  template <class D, class Id>
  static built<Id> build(const call<D, Id>& c, std::uint64_t runs) {
    using layout = pull_layout<Id>;
    if (c.opt.layout == layout_wanted::none || c.opt.variant != pagerank_variant::pull) return {};
    if (one_sweep_suffices(c.w, c.g, plain(c.opt))) return {};
    if (auto stored = stored_layout(c.w, c.g)) return {std::move(stored), "file"};
    const auto kind = layout::kind_for(c.g);
    const auto sweeps = expected_sweeps(plain(c.opt), c.g.num_vertices()) * runs;
    const auto min_sweeps = c.w.max(layout::break_even_sweeps(kind));
    const bool repaid = min_sweeps <= sweeps;
    c.w.trace().note(main_worker, obs::trace_kind::choice,
                     repaid ? "a layout repays" : "no layout repays", {.amount = min_sweeps});
    if (c.opt.layout == layout_wanted::automatic && !repaid) return {};
    return {std::optional<layout>(std::in_place, c.w, c.g, kind), "in-edges"};
  }
  template <class D, class Id>
  static auto run(const call<D, Id>& c, nothing)
      -> std::variant<pagerank_result<float>, pagerank_result<double>> {
    const auto opt = plain(c.opt, c.request);
    const auto* const layout = c.built->layout ? &*c.built->layout : nullptr;
    if (c.opt.precision == precision::single_) return pagerank<float>(c.w, c.g, opt, layout);
    return pagerank<double>(c.w, c.g, opt, layout);
  }
  struct settings_used {
    std::string_view variant, convention, precision, aggregate, layout, layout_from;
    static constexpr auto fields() {
      return std::tuple(field{"variant", &settings_used::variant, "how contributions were applied"},
                        field{"convention", &settings_used::convention, "definition of PageRank"},
                        field{"precision", &settings_used::precision, "precision of the values"},
                        field{"aggregate", &settings_used::aggregate, "how push and edge summed"},
                        field{"layout", &settings_used::layout, "layout of the in-edges for pull"},
                        field{"layout_from", &settings_used::layout_from,
                              "origin of the layout: the graph's file or its in-edges"});
    }
  };
  static settings_used extra_facts(const auto& c, nothing, const auto& r) {
    const auto sums = c.opt.variant == pagerank_variant::pull ? "none"
                      : r.aggregate ? enum_name(static_cast<summation>(*r.aggregate))
                                    : "off";
    const auto& layout = c.built->layout;
    return {enum_name(c.opt.variant),
            enum_name(c.opt.convention),
            enum_name(c.opt.precision),
            sums,
            !layout           ? "none"
            : layout->tiled() ? "tiles"
                              : "groups",
            c.built->from};
  }
  static std::uint64_t edges(const auto& c, const settings_used&, const auto& r) {
    return c.g.num_edges() * r.iterations;
  }
  static auto verify(const auto& c, nothing, const auto& r) {
    return verify_pagerank(c.w, c.g, r, plain(c.opt));
  }
  // By GAP's convention the sweeps may have been in place. Their changes depend on the order of
  // updates, that is on ranks, workers, --order and --layout, so another run in place bounds
  // nothing. But each sweep, whatever mixture of old and new ranks it reads, multiplies the sum of
  // |rank - sweep(rank)| by at most the damping factor: an update removes this difference at its
  // vertex and adds at most damping times as much at the targets. The first sweep thus bounds the
  // last. Not much less would do: on 500 small random graphs one of nine places and orders reached
  // 0.6 of the bound. rank_sum_correction may raise the sum, but did not exceed the bound there.
  static std::optional<std::string> verify_column(const auto& c, std::string_view,
                                                  const own_values& ranks) {
    const auto opt = plain(c.opt);
    const auto limits = limits_of(opt, c.g.num_vertices());
    jacobi_sweeps own(c.w, c.g, opt);
    if (opt.convention != pagerank_convention::gap || limits.max_sweeps == 0) {
      return differs_from(own, c, limits, c.template map_of<double>(ranks));
    }
    own.sweep();
    const auto later_sweeps = static_cast<double>(limits.max_sweeps) - 1;
    const auto change = own.change() * std::pow(opt.damping, later_sweeps);
    const pagerank_result<float> claimed{.rank = c.template map_of<float>(ranks),
                                         .iterations = limits.max_sweeps,
                                         .change = std::max(change, limits.tolerance),
                                         .in_place = true,
                                         .sweepers = 1,
                                         .aggregate = {},
                                         .ran = {}};
    return verify_pagerank(c.w, c.g, claimed, opt);
  }

  // Sweeps of Jacobi determine the ranks, except that rounding may move the last sweep if the
  // tolerance is almost reached. Ranks may be off by the relative tolerance of [Graphalytics],
  // which is above the rounding of floats.
  static std::optional<std::string> differs_from(auto& own, const auto& c,
                                                 const pagerank_limits& limits,
                                                 const pgas::vertex_map<double>& found) {
    const auto rounding =
        limits.tolerance / 1000 + 16 * double{std::numeric_limits<float>::epsilon()};
    for (std::uint64_t sweeps = 0;; own.sweep(), ++sweeps) {
      const bool last = sweeps == limits.max_sweeps;
      const bool may_stop = limits.tolerance > 0 && sweeps > 0;
      if (!last && !(may_stop && own.change() < limits.tolerance + rounding)) continue;
      const auto wrong = first_difference(c, own.rank(), sweeps, found);
      if (!wrong || last || own.change() < limits.tolerance - rounding) return wrong;
    }
  }
  static std::optional<std::string> first_difference(const auto& c,
                                                     const pgas::vertex_map<double>& own,
                                                     std::uint64_t sweeps,
                                                     const pgas::vertex_map<double>& found) {
    const auto v = first_own(c.w, own, [&](std::uint64_t x) {
      return !(std::abs(found.load(x) - own.load(x)) <= 1e-4 * own.load(x));
    });
    std::string mine;
    if (v != no_vertex<std::uint64_t>) {
      mine = "vertex " + c.g.labels().text_of(v) + " has the rank " + format_number(found.load(v)) +
             ", expected " + format_number(own.load(v)) + " after " + std::to_string(sweeps) +
             " sweeps";
    }
    return first_sentence(c.w, mine);
  }

  static std::string check_against_reference(const ref::input& g, const options& o,
                                             const ref::output& found) {
    const auto limits = limits_of(plain(o), g.num_vertices);
    ref::pagerank_judge judge{g.num_vertices, {}, o.damping, limits.spread_sinks};
    for (const auto& e : g.edges) {
      judge.edges.emplace_back(e.source, e.target);
      if (!g.directed && e.source != e.target) judge.edges.emplace_back(e.target, e.source);
    }
    const auto& ranks = found.real.at("rank");
    const auto unit = o.precision == precision::single_
                          ? double{std::numeric_limits<float>::epsilon()}
                          : std::numeric_limits<double>::epsilon();
    const auto near = [&](const std::vector<double>& expected, double more) {
      const auto off = ref::pagerank_judge::distance(ranks, expected);
      if (off <= more + judge.rounding(ranks, unit)) return std::string();
      return "the ranks are off by " + std::to_string(off);
    };
    const auto sweeps = found.numbers.at("iterations"), change = found.numbers.at("change");
    if (sweeps != static_cast<double>(limits.max_sweeps) && !(change < limits.tolerance)) {
      return "it stopped too early";
    }
    // In-place sweeps depend on timing, so only the fixed point is compared.
    if (found.numbers.at("in_place") == 0) {
      return near(judge.after(static_cast<std::uint64_t>(sweeps)), 0);
    }
    if (sweeps == 0) return near(judge.start(), 0);
    return near(judge.fixed_point(), change * o.damping / (1 - o.damping));
  }
};

}  // namespace

const algorithm& pagerank_algorithm() {
  static const declared<pagerank_declaration> a;
  return a;
}

}  // namespace cairn::algo
