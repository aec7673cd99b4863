// SPDX-License-Identifier: Apache-2.0
#include "fuzz.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include <support/temporary_folder.hpp>

namespace cairn::fuzz {
namespace {

constexpr std::array all{
    target{"edge_list", read_edge_list},
    target{"weighted_edge_list", read_weighted_edge_list},
    target{"csv", read_csv},
    target{"words", read_words},
    target{"matrix_market", read_matrix_market},
    target{"dimacs", read_dimacs},
    target{"metis", read_metis},
    target{"compressed", read_compressed},
    target{"native", read_native, mutate_native},
    target{"text_table", read_text_table},
    target{"npy", read_npy},
    target{"properties", read_properties},
    target{"graphalytics", read_graphalytics, nullptr, 100},
    target{"costs", read_costs},
    target{"settings", read_settings},
    target{"vertex_lines", read_vertex_lines},
    target{"strings", read_strings},
    target{"packets", take_packets},
    target{"records", take_records},
};

}  // namespace

std::span<const target> targets() { return all; }

const target& target_named(std::string_view name) {
  std::string names;
  for (const auto& t : all) {
    if (t.name == name) return t;
    (names += ' ') += t.name;
  }
  throw std::invalid_argument("no target '" + std::string(name) + "'; there are" + names);
}

std::string file_with(const std::string& name, input contents) {
  static const support::temporary_folder folder;
  const auto path = folder / name;
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(contents.data()),
             static_cast<std::streamsize>(contents.size()));
  return path;
}

world& small_world() {
  static world w(1);
  return w;
}

void fail(const std::string& sentence) {
  std::fprintf(stderr, "finding: %s\n", sentence.c_str());
  std::abort();
}

}  // namespace cairn::fuzz
