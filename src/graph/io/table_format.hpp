// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <cairn/base/error.hpp>
#include <cairn/graph/io/compressed.hpp>
#include <cairn/graph/io/table.hpp>
#include <cairn/task/pool.hpp>

namespace cairn::graph::io {

enum class table_format : std::uint8_t { csv, tsv, npy };

/// The format that the name's ending indicates, without an ending of compression.
[[nodiscard]] std::optional<table_format> table_format_of(std::string_view path) noexcept;

/// The error for a name with another ending.
inline constexpr const char* expected_table_endings =
    "the name must end in .csv, .tsv or .npy (then .gz, .zst or .xz if compressed)";

/// The header of an .npy file of `num_rows` rows (id, value), padded to 64 bytes.
[[nodiscard]] std::string npy_header(const std::string& value_name, std::size_t value_kind,
                                     std::uint64_t num_rows);
[[nodiscard]] table read_npy(task::pool& workers, const mapped_file& file, std::uint64_t max_rows);

[[nodiscard]] table read_text_table(task::pool& workers, const std::string& path, char separator,
                                    std::uint64_t max_rows, const word_list* words,
                                    const name_predicate& holds_ids);

/// The error for a table of more than `max_rows` rows.
[[nodiscard]] inline input_error too_many_rows(const std::string& path, std::uint64_t max_rows) {
  return input_error::in_file(path,
                              "has more than the expected " + std::to_string(max_rows) + " rows");
}

}  // namespace cairn::graph::io
