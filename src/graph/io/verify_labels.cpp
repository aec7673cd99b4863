// SPDX-License-Identifier: Apache-2.0
#include "verify_labels.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <string_view>
#include <vector>

#include <cairn/graph/words.hpp>

namespace cairn::graph::io {
namespace {

void verify_distinct_labels(const native_file& file, faults& found) {
  const auto ids = file.values<std::uint64_t>(labels_section);
  std::vector<std::uint64_t> sorted(ids.begin(), ids.end());
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  const auto begin = file.byte_of<std::uint64_t>(labels_section, 0);
  if (twice != sorted.end()) found.add(begin, "two vertices have the same label");
  if (sorted.back() == std::numeric_limits<std::uint64_t>::max()) {
    found.add(begin, "a label is 2^64 - 1, which is not a valid id");
  }
}

void verify_texts(const native_file& file, faults& found) {
  const auto n = file.header().num_vertices;
  const auto bytes = file.section(labels_section);
  const auto ends = file.values<std::uint64_t>(labels_section).first(n + 1);
  const auto characters = bytes.size() - (n + 1) * sizeof(std::uint64_t);
  const auto at = [&](std::uint64_t i) { return file.byte_of<std::uint64_t>(labels_section, i); };
  if (ends.front() != 0 || ends.back() != characters) {
    found.add(at(0), "the texts of the labels do not fill their section");
    return;
  }
  const auto wrong = std::adjacent_find(ends.begin(), ends.end(), std::greater<>());
  if (wrong != ends.end()) {
    found.add(at(static_cast<std::uint64_t>(wrong - ends.begin())),
              "the end of a label precedes its beginning");
    return;
  }
  const auto texts = file.label_texts();
  std::vector<std::string_view> sorted;
  for (std::uint64_t v = 0; v < n; ++v) {
    sorted.push_back(texts.substr(ends[v], ends[v + 1] - ends[v]));
    if (!is_word(sorted.back())) found.add(at(v), "a label is not a valid text id");
  }
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    found.add(at(0), "two vertices have the same label");
  }
}

}  // namespace

void verify_labels(const native_file& file, faults& found) {
  if (file.header().label_version() == 2) return verify_distinct_labels(file, found);
  if (file.header().label_version() == 3) return verify_texts(file, found);
  const auto ids = file.values<std::uint64_t>(labels_section);
  if (ids.empty()) return;
  const auto wrong = std::adjacent_find(ids.begin(), ids.end(), std::greater_equal<>());
  if (wrong != ids.end()) {
    const auto i = static_cast<std::uint64_t>(wrong - ids.begin() + 1);
    found.add(file.byte_of<std::uint64_t>(labels_section, i), "the labels do not ascend");
  } else if (ids.back() == std::numeric_limits<std::uint64_t>::max()) {
    found.add(file.byte_of<std::uint64_t>(labels_section, ids.size() - 1),
              "a label is 2^64 - 1, which is not a valid id");
  }
}

}  // namespace cairn::graph::io
