// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/error.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/io/compressed.hpp>
#include <cairn/graph/io/read_edges.hpp>

#include <support/data_folder.hpp>
#include <support/temporary_folder.hpp>

namespace cairn::graph::io::test {

/// A folder of its own for each test, and ways to fill it.
class folder : public support::temporary_folder {
 public:
  /// Writes bytes as they are, and returns the path.
  [[nodiscard]] std::string plain(const std::string& name, std::string_view bytes) const {
    std::ofstream(*this / name, std::ios::binary) << bytes;
    return *this / name;
  }
  /// Writes a text compressed as the name says, and returns the path.
  [[nodiscard]] std::string packed(const std::string& name, std::string_view text) const {
    const auto file = create_file(*this / name);
    file->write(text);
    file->finish();
    return *this / name;
  }
};

inline std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// source, target, weight (1 without weights)
using line = std::tuple<std::uint64_t, std::uint64_t, double>;

/// All edges of a rank, in the file's order.
inline std::vector<line> lines_of(const raw_edges& edges) {
  std::vector<line> all;
  for (const auto& block : edges.blocks) {
    std::visit(
        [&](const auto& list, const auto& weights) {
          for (std::size_t i = 0; i < list.size(); ++i) {
            double weight = 1;
            if constexpr (!std::is_same_v<std::decay_t<decltype(weights)>, std::monostate>) {
              weight = static_cast<double>(weights[i]);
            }
            all.emplace_back(list[i].source, list[i].target, weight);
          }
        },
        block.edges, block.weights);
  }
  return all;
}

inline raw_edges read(const std::string& path, int workers = 1,
                      std::size_t block_bytes = std::size_t{4} << 20) {
  world w(workers);
  return read_edges(w, path, {.block_bytes = block_bytes});
}

/// What the input_error says that f throws, without the folder of `path`; fails if it throws none.
template <class F>
std::string sentence_of(const std::string& path, F&& f) {
  try {
    f();
  } catch (const input_error& error) {
    std::string text = error.what();
    EXPECT_EQ(text.find(path), 0u) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    return text.substr(path.rfind('/') + 1);
  }
  ADD_FAILURE() << path << " was accepted";
  return {};
}

inline std::string sentence(const std::string& path) {
  return sentence_of(path, [&] { static_cast<void>(read(path)); });
}

using cairn::support::data_folder;

}  // namespace cairn::graph::io::test
