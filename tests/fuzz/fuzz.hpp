// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <cairn/core/world.hpp>

namespace cairn::fuzz {

using bytes = std::vector<std::uint8_t>;
using input = std::span<const std::uint8_t>;

/// Changes some of the bytes, and perhaps their number, to at most `max_bytes`.
using mutator = std::function<void(bytes&, std::size_t max_bytes)>;

/// One reader or decoder.
///
/// run     gives it the input. Whatever that holds, run returns; an exception that leaves it, a
///         sanitizer's report, a time-out or too much memory is a finding
/// mutate  if set, changes an input so that its checksums stay right; calls `change` on parts of
/// it.
///         `choice` is random
/// rounds  mutations of each file of the corpus in the ordinary test
struct target {
  std::string_view name;
  void (*run)(input);
  void (*mutate)(bytes&, const mutator& change, std::uint64_t choice) = nullptr;
  int rounds = 100;
};

[[nodiscard]] std::span<const target> targets();

/// Throws    std::invalid_argument, which lists the names
[[nodiscard]] const target& target_named(std::string_view name);

/// The file of that name in a folder of this process, with these contents.
[[nodiscard]] std::string file_with(const std::string& name, input contents);

/// A world of one rank and one worker, the same for all inputs.
[[nodiscard]] world& small_world();

/// Ends the process as a finding.
[[noreturn]] void fail(const std::string& sentence);

// The targets, in the file of that topic.
void read_edge_list(input);
void read_weighted_edge_list(input);
void read_csv(input);
void read_words(input);
void read_matrix_market(input);
void read_dimacs(input);
void read_metis(input);
void read_compressed(input);
void read_native(input);
void mutate_native(bytes&, const mutator& change, std::uint64_t choice);
void read_text_table(input);
void read_npy(input);
void read_properties(input);
void read_graphalytics(input);
void read_vertex_lines(input);
void read_strings(input);
void read_costs(input);
void read_settings(input);
void take_packets(input);
void take_records(input);

}  // namespace cairn::fuzz
