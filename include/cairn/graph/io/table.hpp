// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <cairn/graph/io/output_file.hpp>
#include <cairn/graph/words.hpp>
#include <cairn/task/pool.hpp>

namespace cairn::graph::io {

/// Represents "no value" (unreached, for instance): -1 in a .npy file of integers, NaN in one of
/// reals, an empty field in a .csv or .tsv file.
template <class T>
inline constexpr T missing_value = static_cast<T>(-1);
template <>
inline constexpr double missing_value<double> = std::numeric_limits<double>::quiet_NaN();

/// Values of a column: counts and ids, signed integers, or reals.
using value_vector =
    std::variant<std::vector<std::uint64_t>, std::vector<std::int64_t>, std::vector<double>>;
using value_span = std::variant<std::span<const std::uint64_t>, std::span<const std::int64_t>,
                                std::span<const double>>;

/// One row per vertex, as `cairn COMMAND --output FILE` writes it: id,value.
struct table {
  std::string value_name;          ///< of the second column; the first is named "id"
  std::vector<std::uint64_t> ids;  ///< as in the input
  value_vector values;             ///< shape [ids.size()]
};

/// The shape of a table that is written.
///
/// value_name     name of the second column
/// value_kind     the alternative of value_vector that will be appended
/// num_rows       the total number of rows that will be appended
/// words          if set, ids are positions in it and are written as its words; text formats only
/// ids_as_values  with words: values (of the first kind) are ids too
struct table_shape {
  std::string value_name;
  std::size_t value_kind = 0;
  std::uint64_t num_rows = 0;
  const word_list* words = nullptr;
  bool ids_as_values = false;
};

/// Throws    usage_error if a table of this name cannot hold ids that are texts
void expect_table_holds(const std::string& path, bool text_ids);

/// Writes a table row by row to a .csv, .tsv or .npy file, optionally .gz, .zst or .xz.
///
/// A .npy file contains a structured array with the fields "id" and the value's name, 16 bytes a
/// row. In text, reals are read back exactly; a point or an exponent distinguishes them from
/// integers.
class table_writer {
 public:
  /// check       see output_file
  /// Throws      usage_error if the name has another ending or the file cannot be written
  table_writer(const std::string& path, const table_shape& shape, const write_check& check = {});
  /// Keeps the old file unless finish() succeeded.
  ~table_writer();
  table_writer(table_writer&&) noexcept;
  table_writer& operator=(table_writer&&) = delete;

  /// ids and values have the same size. Throws system_failure if the file cannot be written.
  void append(std::span<const std::uint64_t> ids, value_span values);
  /// Requires that all rows have been appended. Throws as append does.
  void finish();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Writes the whole table. Throws as table_writer does.
void write_table(const std::string& path, const table& rows);

using name_predicate = std::function<bool(std::string_view)>;

/// Reads a table that a table_writer or another program wrote in one of these formats.
///
/// The values of a text file get the first type of value_vector that can hold all of them. One that
/// means "no value" among integers, such as -1, makes them reals. Blanks around fields are skipped.
/// words      if set, ids are its words, and the table contains their positions
/// holds_ids  whether the values of a column of the given name are ids too; empty: never
/// max_rows  a table with more rows is rejected before it takes memory
/// Throws     input_error with file and line, or byte offset
/// Called by worker 0, outside parallel loops.
[[nodiscard]] table read_table(task::pool& workers, const std::string& path, std::uint64_t max_rows,
                               const word_list* words = nullptr,
                               const name_predicate& holds_ids = {});

}  // namespace cairn::graph::io
