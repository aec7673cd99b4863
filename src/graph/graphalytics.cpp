// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <functional>
#include <utility>

#include <cairn/graph/graphalytics.hpp>
#include <cairn/graph/io/scan.hpp>
#include <cairn/graph/io/text_source.hpp>
#include <cairn/task/per_worker.hpp>

namespace cairn::graph {
namespace {

constexpr std::size_t block_bytes = std::size_t{4} << 20;

std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : list + ",") {
    if (c != ',') {
      if (std::isspace(static_cast<unsigned char>(c)) == 0) {
        word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      }
    } else if (!word.empty()) {
      words.push_back(std::exchange(word, {}));
    }
  }
  return words;
}

// Calls f(worker, p, end) for each line with text that is no comment, on the workers of one rank. f
// may throw text_fault.
void for_each_line(task::pool& workers, const std::string& path,
                   const std::function<void(worker_t, const char*, const char*)>& f) {
  const io::text_source source(path, block_bytes);
  const auto fault =
      source.for_each_block(workers, {}, [&](worker_t k, const io::text_block& block) {
        const char* const end = block.text.data() + block.text.size();
        for (const char* p = block.text.data(); p != end; p = io::next_line(p, end)) {
          const char* const text = io::skip_blanks(p);
          if (io::end_of_line(p, end) == nullptr && *text != '#' && *text != '%') f(k, text, end);
        }
      });
  if (fault) throw source.error(*fault);
}

std::vector<std::uint64_t> read_vertices(task::pool& workers, const std::string& path) {
  task::per_worker<std::vector<std::uint64_t>> found(workers.workers());
  for_each_line(workers, path, [&](worker_t k, const char* p, const char* end) {
    std::uint64_t id = 0;
    const char* const behind = io::scan_id(p, end, id);
    if (io::end_of_line(behind, end) == nullptr) {
      io::fail_expected(io::skip_blanks(behind), end, "the end of the line after the vertex");
    }
    found[k].push_back(id);
  });
  std::vector<std::uint64_t> ids;
  for (const auto& part : found) ids.insert(ids.end(), part.value.begin(), part.value.end());
  std::sort(ids.begin(), ids.end());
  const auto twice = std::adjacent_find(ids.begin(), ids.end());
  if (twice == ids.end()) return ids;
  throw input_error::in_file(path, "vertex " + std::to_string(*twice) + " occurs twice");
}

// The error for the first edge of a vertex that does not exist.
[[noreturn]] void fail_at_unknown_vertex(task::pool& workers, const graphalytics_dataset& from,
                                         const std::vector<std::uint64_t>& ids) {
  for_each_line(workers, from.edge_file(), [&](worker_t, const char* p, const char* end) {
    for (int i = 0; i < 2; ++i) {
      std::uint64_t id = 0;
      const char* const start = p;
      p = io::scan_id(p, end, id);
      if (!std::binary_search(ids.begin(), ids.end(), id)) {
        io::fail_expected(start, end, "a vertex of " + from.vertex_file());
      }
      while (io::is_blank(*p) || *p == ',' || *p == ';') ++p;
    }
  });
  throw input_error::in_file(from.edge_file(),
                             "has an edge of a vertex that is not in the vertex file");
}

// An empty file is more often a failed download than a graph without edges, unless these are
// declared.
bool is_declared_empty(const graphalytics_dataset& from) {
  const auto key = from.key("meta.edges");
  std::error_code unknown;
  return from.settings().contains(key) && from.settings().integer(key) == 0 &&
         std::filesystem::file_size(from.edge_file(), unknown) == 0 && !unknown;
}

void expect_lines(const std::string& path, const std::string& line) {
  std::error_code unknown;
  if (std::filesystem::file_size(path, unknown) != 0 || unknown) return;
  throw input_error::in_file(path, "is empty: expected lines '" + line + "'");
}

// The number of a property, if given, must be that of the file.
void expect_number(const graphalytics_dataset& from, std::string_view property,
                   std::uint64_t number, const std::string& file) {
  const auto key = from.key(property);
  if (!from.settings().contains(key) || from.settings().integer(key) == number) return;
  throw from.settings().unexpected(key, std::to_string(number) + " as in " + file);
}

}  // namespace

graphalytics_dataset::graphalytics_dataset(const std::string& properties_file)
    : settings_(properties_file) {
  const std::filesystem::path path(properties_file);
  name_ = path.stem().string();
  folder_ = path.parent_path().string();
  vertex_file_ = in_folder(settings_.text(key("vertex-file")));
  edge_file_ = in_folder(settings_.text(key("edge-file")));
  if (edge_file_ == vertex_file_) edge_file_ = in_folder(name_ + ".e");
  static_cast<void>(directed());
  algorithms_ = words_of(settings_.text(key("algorithms")));
  if (algorithms_.empty()) {
    throw settings_.unexpected(key("algorithms"), "bfs, cdlp, lcc, pr, sssp or wcc");
  }
  const auto names = key("edge-properties.names");
  if (weighted() && words_of(settings_.text(names)).size() != 1) {
    throw settings_.unexpected(names, "one property, the weight");
  }
}

std::string graphalytics_dataset::in_folder(const std::string& file) const {
  return (std::filesystem::path(folder_) / file).string();
}

std::string graphalytics_dataset::reference_file(std::string_view ending) const {
  return in_folder(name_ + "-" + std::string(ending));
}

std::string graphalytics_dataset::key(std::string_view property) const {
  return "graph." + name_ + "." + std::string(property);
}

std::vector<std::string> graphalytics_files(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    if (path.ends_with(".properties")) return {path};
    throw input_error::in_file(path, "expected a folder or a file NAME.properties");
  }
  std::vector<std::string> files;
  for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() == ".properties") files.push_back(at->path().string());
  }
  if (error) throw input_error::in_file(path, "cannot be read (" + error.message() + ")");
  std::sort(files.begin(), files.end());
  if (files.empty()) throw input_error::in_file(path, "contains no file NAME.properties");
  return files;
}

loaded_graph load(world& w, const graphalytics_dataset& from, const load_options& options) {
  const auto begin = w.clock().now_ns();
  std::vector<std::uint64_t> ids;
  w.agree([&] {
    expect_lines(from.vertex_file(), "VERTEX");
    if (!is_declared_empty(from)) {
      expect_lines(from.edge_file(), from.weighted() ? "SOURCE TARGET WEIGHT" : "SOURCE TARGET");
    }
    ids = read_vertices(w.pool(), from.vertex_file());
    expect_number(from, "meta.vertices", ids.size(), from.vertex_file());
  });
  auto read = options.read;
  read.format = io::file_format::edge_list;
  read.ids = io::id_kind::number;
  io::raw_edges edges;
  if (!is_declared_empty(from)) edges = io::read_edges(w, from.edge_file(), read);
  edges.directed = from.directed();
  const auto num_edges = w.sum(edges.num_edges());
  w.agree([&] {
    expect_number(from, "meta.edges", num_edges, from.edge_file());
    if (from.weighted() && num_edges != 0 && !edges.has_weights()) {
      throw input_error::in_file(from.edge_file(),
                                 "has no weights, expected '" +
                                     from.settings().text(from.key("edge-properties.names")) +
                                     "' after source and target");
    }
  });
  auto names = relabel(w, edges, ids);
  if (!names) {
    w.agree([&] {
      if (w.rank() == 0) fail_at_unknown_vertex(w.pool(), from, ids);
    });
  }
  auto ordered = reorder(w, edges, *names, options.order, options.order_seed);
  loaded_graph loaded;
  const auto read_at = w.clock().now_ns();
  loaded.load_seconds = static_cast<double>(read_at - begin) * 1e-9;
  auto build = options.build;
  build.symmetrize = false;
  build.keep_weights = build.keep_weights && from.weighted();
  loaded.graph = build_any(w, std::move(edges), std::move(ordered), build);
  loaded.build_seconds = static_cast<double>(w.clock().now_ns() - read_at) * 1e-9;
  return loaded;
}

}  // namespace cairn::graph
