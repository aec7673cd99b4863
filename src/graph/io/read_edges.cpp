// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <system_error>
#include <utility>

#include <cairn/base/contract.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/io/edge_lines.hpp>
#include <cairn/graph/io/file_format.hpp>
#include <cairn/graph/io/metis.hpp>
#include <cairn/graph/io/read_edges.hpp>
#include <cairn/graph/io/text_layout.hpp>
#include <cairn/graph/io/text_source.hpp>
#include <cairn/graph/io/word_lines.hpp>
#include <cairn/task/parallel_for.hpp>
#include <cairn/task/per_worker.hpp>

#include "../rewrite.hpp"
#include "graph/gather.hpp"

namespace cairn::graph::io {
namespace {

constexpr auto no_offset = std::numeric_limits<std::uint64_t>::max();

/// Results that the ranks exchange about their parts, combined as sums and minima.
struct part_summary {
  std::uint64_t fault_offset = no_offset;
  std::uint64_t entries = 0;
  std::uint64_t below = no_offset;
  std::uint64_t above = no_offset;
  std::uint64_t has_real_weights = 0;
  list_counts lists;

  void add(const part_summary& other) noexcept {
    fault_offset = std::min(fault_offset, other.fault_offset);
    entries += other.entries;
    below = std::min(below, other.below);
    above = std::min(above, other.above);
    has_real_weights |= other.has_real_weights;
    lists += other.lists;
  }
};

/// A worker's results and its state between blocks.
struct worker_part {
  std::vector<std::pair<std::uint64_t, edge_block>> blocks;  // with their indices
  part_summary summary;
  parse_scratch scratch;
  std::unique_ptr<dictionary> words = std::make_unique<dictionary>();  // for text ids
};

/// A rank's blocks.
struct part {
  std::vector<edge_block> blocks;
  part_summary summary;
  std::optional<source_fault> fault;
  std::vector<std::unique_ptr<dictionary>> words;  // by worker
  std::vector<std::size_t> worker_of;              // the worker that parsed each block
};

/// A list has at most all edges in both directions, and a number takes few bytes. A line is limited
/// to 1 GiB, whatever number of edges the file declares.
std::size_t max_list_bytes(const text_layout& layout) {
  constexpr std::uint64_t least = std::uint64_t{1} << 20, most = std::uint64_t{1} << 30;
  constexpr std::uint64_t bytes_an_edge = 2 * 48;  // an id, a weight and blanks
  const auto edges = std::min(*layout.entries, most / bytes_an_edge);
  return static_cast<std::size_t>(std::min(most, least + edges * bytes_an_edge));
}

bool has_words(const read_options& options) {
  return options.vertices != nullptr ? options.vertices->textual() : options.ids == id_kind::text;
}

/// Reads one file on all ranks.
class reader {
 public:
  reader(world& w, const std::string& path, const read_options& options, file_format format)
      : w_(w),
        source_(path, options.block_bytes),
        layout_(read_layout(source_, format, has_words(options))),
        options_(options) {
    if (layout_.edgeless && options.vertices == nullptr) {
      throw source_.error(0, "the file contains no edges");
    }
    layout_.weights.numbers = std::max(layout_.weights.numbers, options.weights.numbers);
    layout_.weights.not_negative = options.weights.not_negative;
    source_.skip_to(layout_.data_offset);
    if (format == file_format::metis) source_.limit_lines(max_list_bytes(layout_));
    if (!layout_.vertices) return;
    const auto head = source_.head(layout_.header_offset + 1);
    const auto lines_before = std::count(head.begin(), head.end() - 1, '\n');
    declared_at_ = path + ":" + std::to_string(lines_before + 1);
  }

  raw_edges read_lines() {
    auto mine = parse([this](const text_block& block, bool real, worker_part& into) {
      auto parsed = parse_edge_lines(block.text, layout_, real, into.scratch);
      into.summary.entries += parsed.entries;
      if (parsed.below)
        into.summary.below = std::min(into.summary.below, block.offset + *parsed.below);
      if (parsed.above)
        into.summary.above = std::min(into.summary.above, block.offset + *parsed.above);
      return std::move(parsed.edges);
    });
    const auto all = agree_on(mine);
    w_.agree([&] { check_lines(all); });
    return finish(std::move(mine), all,
                  layout_.sides != symmetry::symmetric && !layout_.undirected);
  }

  raw_edges read_words() {
    auto mine = parse([this](const text_block& block, bool real, worker_part& into) {
      return parse_word_lines(block.text, layout_, real, *into.words);
    });
    const auto all = agree_on(mine);
    std::vector<const dictionary*> own;
    for (const auto& words : mine.words) own.push_back(words.get());
    auto words = agree_on_words(w_, own);
    std::vector<std::vector<std::uint64_t>> places(own.size());
    for (std::size_t w = 0; w < own.size(); ++w) {
      for (const auto word : own[w]->words()) places[w].push_back(*words.find(word));
    }
    const auto worker_of = std::move(mine.worker_of);
    auto edges = finish(std::move(mine), all, true);
    graph::detail::rewrite_blocks(
        w_.pool(), edges, words.size(),
        [&](std::uint64_t number, std::size_t block) { return places[worker_of[block]][number]; });
    edges.words = std::move(words);
    return edges;
  }

  raw_edges read_vertices() {
    std::atomic<std::uint64_t> found{0};
    auto mine = parse([&](const text_block& block, bool real, worker_part& into) {
      auto edges = parse_vertex_pairs(block.text, layout_, real, *options_.vertices);
      into.summary.entries += edges.size();
      const auto before = found.fetch_add(edges.size(), std::memory_order_relaxed);
      return before <= options_.max_edges ? std::move(edges) : edge_block();  // refused below
    });
    const auto all = agree_on(mine);
    w_.agree([&] {
      if (all.entries <= options_.max_edges) return;
      throw input_error::in_file(source_.path(), "has " + std::to_string(all.entries) +
                                                     " edges, expected at most " +
                                                     std::to_string(options_.max_edges));
    });
    return finish(std::move(mine), all, true);
  }

  raw_edges read_lists() {
    find_first_lists();
    // See metis.hpp. The least likely reading is tried last.
    std::vector<list_reading> readings{{false, false}, {false, true}};
    if (layout_.vertex_sizes) readings.insert(readings.begin(), {true, false});
    std::optional<input_error> first_error;
    for (const auto reading : readings) {
      try {
        return read_lists(reading);
      } catch (const input_error& error) {
        if (!first_error) first_error = error;
      }
    }
    throw *first_error;
  }

 private:
  using parse_function = std::function<edge_block(const text_block&, bool, worker_part&)>;

  part parse(const parse_function& parse_block) {
    task::per_worker<worker_part> workers(w_.pool().workers());
    // A hint only: once a block has real weights, later ones are not tried as integers.
    std::atomic<bool> real{false};
    const text_source::pass pass{
        w_.rank(), w_.size(),
        layout_.format == file_format::metis ? text_source::counter(count_lists) : nullptr,
        options_.progress};
    part mine;
    mine.fault = source_.for_each_block(w_.pool(), pass, [&](worker_t k, const text_block& block) {
      auto& own = workers[k];
      auto edges = parse_block(block, real.load(std::memory_order_relaxed), own);
      if (std::holds_alternative<std::vector<double>>(edges.weights)) {
        own.summary.has_real_weights = 1;
        real.store(true, std::memory_order_relaxed);
      }
      if (edges.size() != 0) own.blocks.emplace_back(block.index, std::move(edges));
    });
    std::map<std::uint64_t, std::pair<edge_block, std::size_t>> in_order;
    for (auto& worker : workers) {
      mine.summary.add(worker.value.summary);
      for (auto& [index, edges] : worker.value.blocks) {
        in_order.emplace(index, std::pair(std::move(edges), mine.words.size()));
      }
      mine.words.push_back(std::move(worker.value.words));
    }
    for (auto& [index, found] : in_order) {
      mine.blocks.push_back(std::move(found.first));
      mine.worker_of.push_back(found.second);
    }
    if (mine.fault) mine.summary.fault_offset = mine.fault->offset;
    return mine;
  }

  /// Combines the summaries of all ranks. Throws the file's first fault, if any.
  part_summary agree_on(const part& mine) {
    part_summary all;
    for (const auto& summary : w_.all_gather(mine.summary)) all.add(summary);
    w_.agree([&] {
      if (mine.fault && mine.fault->offset == all.fault_offset) throw source_.error(*mine.fault);
    });
    return all;
  }

  void check_lines(const part_summary& all) const {
    if (layout_.entries && all.entries != *layout_.entries) {
      throw source_.error(layout_.header_offset,
                          "the header declares " + std::to_string(*layout_.entries) +
                              " entries, but the file holds " + std::to_string(all.entries));
    }
    if (all.below != no_offset && all.above != no_offset) {
      throw source_.error(std::max(all.below, all.above),
                          "the matrix is declared symmetric and lists entries below the diagonal "
                          "and above it: expected one side only");
    }
  }

  /// Sets, for each own block of a mapped file, the number of lists before it.
  void find_first_lists() {
    if (source_.streamed()) return;  // counted while streaming
    std::vector<std::uint64_t> mine;
    task::per_worker<std::vector<std::uint64_t>> found(w_.pool().workers());
    const text_source::pass pass{w_.rank(), w_.size(), nullptr, nullptr};
    const auto fault =
        source_.for_each_block(w_.pool(), pass, [&](worker_t k, const text_block& block) {
          found[k].push_back(block.index);
          found[k].push_back(count_lists(block.text));
        });
    CAIRN_ASSERT(!fault);
    for (auto& worker : found) {
      mine.insert(mine.end(), worker.value.begin(), worker.value.end());
    }
    std::vector<std::pair<std::uint64_t, std::uint64_t>> all;
    for (const auto& of_rank : gather_lists(w_, std::span<const std::uint64_t>(mine))) {
      for (std::size_t i = 0; i < of_rank.size(); i += 2) {
        all.emplace_back(of_rank[i], of_rank[i + 1]);
      }
    }
    std::sort(all.begin(), all.end());
    std::uint64_t before = 0;
    for (const auto& [index, lists] : all) {
      first_lists_.resize(index + 1);
      first_lists_[index] = std::exchange(before, before + lists);
    }
  }

  raw_edges read_lists(list_reading reading) {
    auto mine = parse([&](const text_block& block, bool real, worker_part& into) {
      const auto first = source_.streamed() ? block.before : first_lists_[block.index];
      auto parsed = parse_lists(block.text, first, layout_, reading, real, into.scratch);
      into.summary.lists += parsed.counts;
      return std::move(parsed.edges);
    });
    const auto all = agree_on(mine);
    const auto verdict = judge(all.lists, layout_, reading);
    if (verdict == list_verdict::contradicts) {
      throw source_.error(layout_.header_offset, contradiction(all.lists, layout_));
    }
    if (verdict == list_verdict::fits_with_double_loops) {
      bool in_pairs = true;
      for (auto& block : mine.blocks) in_pairs = drop_half_of_loops(block) && in_pairs;
      w_.agree([&] {
        if (in_pairs) return;
        throw source_.error(layout_.header_offset,
                            "the header counts half of the self-loops, but a vertex does not list "
                            "one twice with the same weight");
      });
    }
    return finish(std::move(mine), all, reading.directed);
  }

  raw_edges finish(part mine, const part_summary& all, bool directed) const {
    raw_edges result;
    result.blocks = std::move(mine.blocks);
    result.declared_vertices = layout_.vertices;
    result.declared_at = declared_at_;
    result.first_id = layout_.first_id();
    result.directed = directed;
    if (layout_.weighted) {
      result.weights = all.has_real_weights != 0 ? weight_kind::real : weight_kind::integer;
    }
    if (result.weights == weight_kind::real) {
      task::parallel_for(w_.pool(), {.elements = result.blocks.size(), .chunk = 1},
                         [&](worker_t, std::size_t begin, std::size_t end) {
                           for (auto i = begin; i < end; ++i) make_real(result.blocks[i]);
                         });
    }
    return result;
  }

  static void make_real(edge_block& block) {
    if (const auto* whole = std::get_if<std::vector<std::int32_t>>(&block.weights)) {
      block.weights = std::vector<double>(whole->begin(), whole->end());
    }
  }

  world& w_;
  text_source source_;
  text_layout layout_;
  std::string declared_at_;
  const read_options& options_;
  std::vector<std::uint64_t> first_lists_;  // by block index
};

}  // namespace

raw_edges read_edges(world& w, const std::string& path, const read_options& options) {
  std::optional<reader> file;
  file_format format{};
  const bool of_graph = options.vertices != nullptr;
  bool is_empty = false;
  w.agree([&] {
    format = options.format ? *options.format : format_of(path);
    if (format == file_format::native) {
      throw input_error::in_file(path, "a .cairn file holds a built graph, not a list of edges");
    }
    const bool edge_list = format == file_format::edge_list ||
                           format == file_format::weighted_edge_list || format == file_format::csv;
    CAIRN_EXPECTS(edge_list || !of_graph, "edges of a graph are read from edge lists");
    if (options.ids == id_kind::text && !edge_list) {
      throw usage_error(path + ": text ids are supported only in edge lists and .csv files");
    }
    std::error_code no_size;
    is_empty = of_graph && without_compression(path) == path &&
               std::filesystem::file_size(path, no_size) == 0 && !no_size;
    if (!is_empty) file.emplace(w, path, options, format);
  });
  if (of_graph) return w.any(is_empty) ? raw_edges() : file->read_vertices();
  if (options.ids == id_kind::text) return file->read_words();
  return format == file_format::metis ? file->read_lists() : file->read_lines();
}

}  // namespace cairn::graph::io
