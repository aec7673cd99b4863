// SPDX-License-Identifier: Apache-2.0
//
// Reads a text edge list and builds a graph: edges and megabytes per second, and the peak of
// anonymous memory against the guarantee of 3 times the result plus 256 MiB. The list is generated
// here and removed at the end.

#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include <cairn/base/random.hpp>
#include <cairn/graph/load.hpp>
#include <cairn/hw/topology.hpp>

#include <bench/program.hpp>

namespace cairn::bench {
namespace {

// An order-independent sum over the arcs of a graph.
std::uint64_t arc_hash(std::uint64_t from, std::uint64_t to) { return mix64(mix64(from) + to); }

/// A temporary file with an edge list "u v" of a Kronecker graph, including duplicates.
class edge_file {
 public:
  edge_file(const std::string& folder, int scale) : path_(folder + "/cairn_reader_XXXXXX.el") {
    const int opened = mkstemps(path_.data(), 3);
    if (opened < 0) throw usage_error(folder + ": no file can be made there");
    close(opened);
    world alone;
    const auto drawn = graph::generate(alone.pool(), {graph::kronecker_graph{scale}});
    std::ofstream out(path_);
    std::string text;
    for (const auto& block : drawn.blocks) {
      std::visit([&](const auto& list) { append(list, out, text); }, block.edges);
    }
    bytes = static_cast<std::uint64_t>(out.tellp());
    out.close();
    if (!out) throw system_failure(path_ + ": cannot be written");
  }
  ~edge_file() {
    std::error_code gone;
    std::filesystem::remove(path_, gone);
  }
  edge_file(const edge_file&) = delete;
  edge_file& operator=(const edge_file&) = delete;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  std::uint64_t bytes = 0, edges = 0, hash = 0;

 private:
  template <class Edges>
  void append(const Edges& list, std::ofstream& out, std::string& text) {
    text.clear();
    for (const auto& e : list) {
      fmt::format_to(std::back_inserter(text), "{} {}\n", e.source, e.target);
      hash += arc_hash(e.source, e.target);
    }
    edges += list.size();
    out << text;
  }

  std::string path_;
};

/// The value in bytes of a row of /proc/self/status such as "RssAnon:   123 kB".
std::uint64_t status_bytes(const std::string& row) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(row + ":")) return 1024 * std::stoull(line.substr(row.size() + 1));
  }
  throw system_failure("/proc/self/status has no " + row);
}

/// Peak anonymous memory of this process while f runs, sampled every millisecond. The kernel's
/// high-water mark includes mapped files.
template <class F>
std::uint64_t peak_anonymous_bytes(F&& f) {
  std::atomic<bool> done{false};
  std::atomic<std::uint64_t> peak{status_bytes("RssAnon")};
  std::thread watch([&] {
    while (!done) {
      peak = std::max(peak.load(), status_bytes("RssAnon"));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  f();
  done = true;
  watch.join();
  return std::max(peak.load(), status_bytes("RssAnon"));
}

graph::loaded_graph read(world& w, const edge_file& file) {
  return graph::load(w, file.path(), {.build = {.inverse = true}});
}

template <class Id>
std::string fault_of(const graph::dist_csr<Id>& g, const edge_file& file) {
  std::uint64_t out = 0, in = 0;
  const auto id = [&](Id v) { return g.labels().id_of(v); };
  for (Id v = 0; v < g.num_vertices(); ++v) {
    for (const Id u : g.out().neighbors(v)) out += arc_hash(id(v), id(u));
    for (const Id u : g.in().neighbors(v)) in += arc_hash(id(u), id(v));
  }
  if (g.num_edges() != file.edges) return fmt::format("{} edges", g.num_edges());
  return out == file.hash && in == file.hash ? "" : "its edges are others than the file's";
}

template <class Id>
std::uint64_t result_bytes(const graph::dist_csr<Id>& g) {
  return 2 * ((g.num_vertices() + 1) * sizeof(std::uint64_t) + g.num_edges() * sizeof(Id));
}

void measure_memory(world& w, harness& h, const edge_file& file, const nlohmann::json& settings) {
  std::uint64_t result = 0;
  const auto peak = peak_anonymous_bytes([&] {
    const auto loaded = read(w, file);
    result = std::visit([](const auto& g) { return result_bytes(g); }, loaded.graph);
  });
  const auto bound = 3 * result + (std::uint64_t{256} << 20);
  h.write({{"kernel", "reader_memory"},
           {"settings", settings},
           {"peak_anonymous_bytes", peak},
           {"high_water_bytes", status_bytes("VmHWM")},
           {"result_bytes", result},
           {"bound_bytes", bound},
           {"within_bound", peak <= bound}});
  fmt::print(stderr, "{:>7} threads: {:.0f} MB anonymous at the peak, {} {:.0f} MB\n", w.workers(),
             1e-6 * static_cast<double>(peak), peak <= bound ? "within" : "BEYOND",
             1e-6 * static_cast<double>(bound));
  if (peak > bound) throw wrong_result("a graph took more memory to read than guaranteed");
}

void measure_speed(world& w, harness& h, const edge_file& file, const nlohmann::json& settings) {
  kernel<const edge_file*, graph::loaded_graph> kern;
  kern.name = "reader";
  kern.settings = settings;
  kern.item = "edges";
  kern.num_items = static_cast<double>(file.edges);
  kern.make_input = [&] { return &file; };
  kern.run = [&w](const edge_file* from) { return read(w, *from); };
  kern.verify = [](const edge_file* from, const graph::loaded_graph& loaded) {
    return std::visit([&](const auto& g) { return fault_of(g, *from); }, loaded.graph);
  };
  subject s(std::move(kern));
  const auto time = h.measure(s).time;
  fmt::print(stderr,
             "{:>7} threads: {:.2f} million edges/s, {:.0f} MB/s, mad {:.1f} % of {} runs\n",
             w.workers(), 1e-6 * s.num_items / time.median,
             1e-6 * static_cast<double>(file.bytes) / time.median, 100 * time.mad / time.median,
             time.runs);
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  using namespace cairn;
  int scale = 20;
  std::string folder = std::filesystem::temp_directory_path();
  std::vector<int> threads{1, 2};
  return bench::run_program(
      argc, argv, "From a text edge list to a built graph.",
      [&](bench::argument_list& arguments) {
        arguments.number("--kronecker", scale, {1, 30},
                         "log2 of the vertices; 16 times as many edges");
        arguments.number("--threads", threads, {1, 4096}, "one or more");
        arguments.folder("--folder", folder, "for the file");
      },
      [&](bench::harness& h) {
        const bench::edge_file file(folder, scale);
        for (const int count : threads) {
          world w(count);
          const nlohmann::json settings{{"kronecker", scale},
                                        {"threads", count},
                                        {"file_bytes", file.bytes},
                                        {"edges", file.edges},
                                        {"directions", 2}};
          bench::measure_memory(w, h, file, settings);
          bench::measure_speed(w, h, file, settings);
        }
      });
}
