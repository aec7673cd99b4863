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

#include <cairn/graph/words.hpp>
#include <cairn/task/pool.hpp>

namespace cairn::graph::io {

/// Stands for "no value" (unreached, for instance): -1 in an .npy file of whole numbers, NaN in
/// one of real numbers, and nothing between the separators of a .csv or .tsv file.
template <class T>
inline constexpr T missing_value = static_cast<T>(-1);
template <>
inline constexpr double missing_value<double> = std::numeric_limits<double>::quiet_NaN();

/// Values of a column: counts and ids, whole numbers that may be negative, or real ones.
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

/// Writes a table row by row into a .csv, .tsv or .npy file, also .gz, .zst or .xz.
///
/// An .npy file holds a structured array with the fields "id" and the value's name, 16 bytes a
/// row. Real numbers are written in text so that they read back exactly, and with a point or an
/// exponent, by which a reader tells them from whole ones.
class table_writer {
 public:
  /// words       if set, ids are places in it and are written as its words: in text only
  /// ids_as_values  with words: values (of the first kind) are ids too
  /// num_rows    that will be appended in all
  /// value_kind  the alternative of value_vector that will be appended
  /// Throws      usage_error if the name's ending is none of these or the file cannot be written
  table_writer(const std::string& path, const std::string& value_name, std::size_t value_kind,
               std::uint64_t num_rows, const word_list* words = nullptr,
               bool ids_as_values = false);
  /// Leaves the file as it was unless the new one was finished.
  ~table_writer();
  table_writer(table_writer&&) noexcept;
  table_writer& operator=(table_writer&&) = delete;

  /// ids and values have the same size. Throws system_failure if the file cannot be written.
  void append(std::span<const std::uint64_t> ids, value_span values);
  /// All rows have been appended. Throws as append does.
  void finish();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Writes the whole table. Throws as table_writer does.
void write_table(const std::string& path, const table& rows);

using name_predicate = std::function<bool(std::string_view)>;

/// Reads what a table_writer has written, or another program in the same formats.
///
/// The values of a text file are of the first kind of value_vector that can hold all of them, or
/// else doubles.
/// words      if set, ids are words of it, and the table has their places
/// holds_ids  whether values of a column of that name are ids, too; empty: of none are
/// most_rows  a table of more is refused before it takes memory
/// Throws     input_error with file and line, or byte offset
/// Called by worker 0, outside parallel loops.
[[nodiscard]] table read_table(task::pool& workers, const std::string& path,
                               std::uint64_t most_rows, const word_list* words = nullptr,
                               const name_predicate& holds_ids = {});

}  // namespace cairn::graph::io
