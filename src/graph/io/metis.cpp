// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <set>
#include <type_traits>
#include <variant>
#include <vector>

#include <cairn/base/random.hpp>
#include <cairn/base/types.hpp>
#include <cairn/graph/io/metis.hpp>
#include <cairn/graph/io/scan.hpp>

#include "no_weight.hpp"
#include "scan_weight.hpp"

namespace cairn::graph::io {
namespace {

struct list_rule {
  std::uint64_t first;
  std::uint64_t num_vertices;
  std::uint64_t skipped;  // ignored numbers before each list
  bool directed;
  weight_rule weights;
};

std::uint64_t hash_of(std::uint64_t low, std::uint64_t high, double weight) noexcept {
  return mix64(mix64(mix64(low) + high) + std::bit_cast<std::uint64_t>(weight));
}

inline bool is_comment(const char* line) noexcept { return *skip_blanks(line) == '%'; }

/// Advances p to the next number of this line. If there is none, sets behind_line and returns
/// false.
inline bool advance_to_number(const char*& p, const char* end, const char*& behind_line) {
  if (is_blank(*p) && is_digit(p[1])) [[likely]] {
    ++p;
    return true;
  }
  behind_line = end_of_line(p, end);
  if (behind_line != nullptr) return false;
  const char* const word = skip_blanks(p);
  if (word == p) fail_expected(p, end, "a blank or the end of the line");
  p = word;
  return true;
}

template <class Id, class Weight>
class list_scanner {
 public:
  static constexpr bool weighted = !std::is_same_v<Weight, no_weight>;

  list_scanner(std::string_view text, const list_rule& rule, parse_scratch& scratch)
      : rule_(rule), text_(text) {
    // The shortest entry is "1 ", with a weight "1 1 ".
    const auto max_entries = text.size() / (weighted ? 4 : 2) + 1;
    auto* const memory =
        scratch.at_least(max_entries * (sizeof(edge<Id>) + (weighted ? sizeof(Weight) : 0)));
    edges_ = reinterpret_cast<edge<Id>*>(memory);
    weights_ = reinterpret_cast<Weight*>(memory + max_entries * sizeof(edge<Id>));
  }

  /// Returns false if the block needs real weights.
  bool scan(parsed_lists& parsed) {
    const char* p = text_.data();
    const char* const end = p + text_.size();
    while (p != end) {
      if (!is_digit(*p) && is_comment(p)) {
        p = next_line(p, end);
        continue;
      }
      p = scan_list(p, end, rule_.first + counts_.lists);
      if (p == nullptr) return false;
      ++counts_.lists;
    }
    parsed.edges.edges = std::vector<edge<Id>>(edges_, edges_ + kept_);
    if constexpr (weighted) {
      parsed.edges.weights = std::vector<Weight>(weights_, weights_ + kept_);
    }
    parsed.counts = counts_;
    return true;
  }

 private:
  /// Scans the list of vertex u at p and returns the position after it, or nullptr if the block
  /// needs real weights.
  const char* scan_list(const char* p, const char* end, std::uint64_t u) {
    if (u >= rule_.num_vertices) {
      if (const char* const behind = end_of_line(p, end)) return behind;
      throw text_fault{p, "the file has more lists than the " + std::to_string(rule_.num_vertices) +
                              " vertices that its header declares"};
    }
    const char* behind_line = nullptr;
    bool more = is_digit(*p) || advance_to_number(p, end, behind_line);
    for (std::uint64_t i = 0; i < rule_.skipped; ++i) {
      if (!more) fail_expected(p, end, "the vertex's size or weight before its list");
      std::uint64_t ignored = 0;
      p = scan_id(p, end, ignored);
      more = advance_to_number(p, end, behind_line);
    }
    while (more) {
      const char* const word = p;
      std::uint64_t v = 0;
      p = scan_id(p, end, v);
      if (--v >= rule_.num_vertices) [[unlikely]] {
        throw text_fault{
            word, "the id " + std::to_string(v + 1) + " is out of range: the header declares " +
                      std::to_string(rule_.num_vertices) + " vertices, counted from 1"};
      }
      double weight = 0;
      if constexpr (weighted) {
        if (!advance_to_number(p, end, behind_line)) fail_expected(p, end, "the edge's weight");
        p = scan_weight(p, end, rule_.weights, weights_[kept_],
                        [&] { return edge_name(u + 1, v + 1); });
        if (p == nullptr) return nullptr;
        weight = static_cast<double>(weights_[kept_]);
      }
      take(u, v, weight);
      more = advance_to_number(p, end, behind_line);
    }
    return behind_line;
  }

  void take(std::uint64_t u, std::uint64_t v, double weight) noexcept {
    ++counts_.entries;
    counts_.loops += u == v ? 1 : 0;
    if (u < v) {
      ++counts_.upper;
      counts_.balance += hash_of(u, v, weight);
    } else if (u > v) {
      counts_.balance -= hash_of(v, u, weight);
      if (!rule_.directed) return;
    }
    edges_[kept_++] = {static_cast<Id>(u), static_cast<Id>(v)};
  }

  list_rule rule_;
  std::string_view text_;
  edge<Id>* edges_;
  Weight* weights_;
  std::size_t kept_ = 0;
  list_counts counts_;
};

template <class Weight>
bool parse_with(std::string_view text, const list_rule& rule, parse_scratch& scratch,
                parsed_lists& parsed) {
  if (rule.num_vertices < no_vertex<std::uint32_t>) {
    return list_scanner<std::uint32_t, Weight>(text, rule, scratch).scan(parsed);
  }
  return list_scanner<std::uint64_t, Weight>(text, rule, scratch).scan(parsed);
}

}  // namespace

std::uint64_t count_lists(std::string_view text) noexcept {
  std::uint64_t lists = 0;
  const char* const end = text.data() + text.size();
  for (const char* p = text.data(); p != end; p = next_line(p, end)) lists += is_comment(p) ? 0 : 1;
  return lists;
}

parsed_lists parse_lists(std::string_view text, std::uint64_t first, const text_layout& layout,
                         list_reading reading, bool real_weights, parse_scratch& scratch) {
  const list_rule rule{first, *layout.vertices, layout.vertex_weights + (reading.sizes ? 1 : 0),
                       reading.directed, layout.weights};
  parsed_lists parsed;
  if (!layout.weighted) {
    parse_with<no_weight>(text, rule, scratch, parsed);
  } else if (real_weights || !parse_with<std::int32_t>(text, rule, scratch, parsed)) {
    parse_with<double>(text, rule, scratch, parsed);
  }
  return parsed;
}

list_verdict judge(const list_counts& counts, const text_layout& layout,
                   list_reading reading) noexcept {
  const auto declared = *layout.entries;
  if (counts.lists < *layout.vertices) return list_verdict::contradicts;
  if (reading.directed) {
    return counts.entries == declared ? list_verdict::fits : list_verdict::contradicts;
  }
  const auto lower = counts.entries - counts.upper - counts.loops;
  if (counts.balance != 0 || lower != counts.upper) return list_verdict::contradicts;
  if (counts.upper + counts.loops == declared) return list_verdict::fits;
  if (counts.loops % 2 == 0 && counts.upper + counts.loops / 2 == declared) {
    return list_verdict::fits_with_double_loops;
  }
  return list_verdict::contradicts;
}

std::string contradiction(const list_counts& counts, const text_layout& layout) {
  if (counts.lists < *layout.vertices) {
    return "the header declares " + std::to_string(*layout.vertices) +
           " vertices, but the file holds " + std::to_string(counts.lists) + " lists";
  }
  if (counts.entries - counts.loops != 2 * (*layout.entries - counts.loops)) {
    return "the header declares " + std::to_string(*layout.entries) +
           " undirected edges, but the lists hold " + std::to_string(counts.entries) +
           " entries instead of two for each";
  }
  return "an edge is in the list of only one of its vertices, or has two different weights";
}

bool drop_half_of_loops(edge_block& block) {
  return std::visit(
      []<class Edge, class Weights>(std::vector<Edge>& edges, Weights& weights) {
        constexpr bool weighted = !std::is_same_v<Weights, std::monostate>;
        const auto weight_of = [&](std::size_t i) {
          if constexpr (weighted) {
            return weights[i];
          } else {
            return std::monostate();
          }
        };
        std::size_t kept = 0;
        bool in_pairs = true;
        std::set<decltype(weight_of(0))> odd;  // weights of this vertex's loops without a pair yet
        for (std::size_t i = 0; i < edges.size(); ++i) {
          const auto e = edges[i];
          if (e.source == e.target && !odd.insert(weight_of(i)).second) {
            odd.erase(weight_of(i));
          } else {
            edges[kept] = e;
            if constexpr (weighted) weights[kept] = weights[i];
            ++kept;
          }
          if (odd.empty() || (i + 1 < edges.size() && edges[i + 1].source == e.source)) continue;
          in_pairs = false;
          odd.clear();
        }
        edges.resize(kept);
        if constexpr (weighted) weights.resize(kept);
        return in_pairs;
      },
      block.edges, block.weights);
}

}  // namespace cairn::graph::io
