// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string_view>

#include <cairn/base/contract.hpp>
#include <cairn/base/error.hpp>
#include <cairn/graph/io/file_format.hpp>
#include <cairn/graph/io/table.hpp>

#include "table_format.hpp"

namespace cairn::graph::io {
namespace {

// Bounds a row: an id of 20 digits, a value of up to 24 characters, a separator and a newline.
constexpr std::size_t max_row_bytes = 64;
constexpr std::size_t buffer_bytes = std::size_t{64} << 10;

char* put(char* at, std::uint64_t value) { return std::to_chars(at, at + 24, value).ptr; }
char* put(char* at, std::int64_t value) { return std::to_chars(at, at + 24, value).ptr; }
char* put(char* at, double value) {
  char* const end = std::to_chars(at, at + 32, value).ptr;
  const std::string_view text(at, static_cast<std::size_t>(end - at));
  if (text.find_first_of(".en") != std::string_view::npos) return end;  // n: of inf
  end[0] = '.';
  end[1] = '0';
  return end + 2;
}

bool is_missing(double value) { return std::isnan(value); }
template <class T>
bool is_missing(T value) {
  return value == missing_value<T>;
}

}  // namespace

struct table_writer::state {
  std::unique_ptr<byte_sink> file;
  table_format format;
  std::size_t value_kind;
  std::uint64_t rows_left;
  const word_list* words;
  bool ids_as_values;
  std::string buffer;

  void append_words(std::span<const std::uint64_t> ids, const auto& put_value) {
    const char separator = format == table_format::csv ? ',' : '\t';
    for (std::size_t i = 0; i < ids.size(); ++i) {
      (buffer += (*words)[ids[i]]) += separator;
      put_value(i);
      buffer += '\n';
      if (buffer.size() < buffer_bytes && i + 1 != ids.size()) continue;
      file->write(buffer);
      buffer.clear();
    }
  }

  /// Writes ids, and with ids_as_values the values, as words.
  template <class T>
  void append_texts(std::span<const std::uint64_t> ids, std::span<const T> values) {
    buffer.clear();
    append_words(ids, [&](std::size_t i) {
      if (is_missing(values[i])) return;
      if (ids_as_values) {
        buffer += (*words)[static_cast<std::uint64_t>(values[i])];
      } else {
        std::array<char, 64> text;
        buffer.append(text.data(), put(text.data(), values[i]));
      }
    });
  }

  template <class T>
  void append_text(std::span<const std::uint64_t> ids, std::span<const T> values) {
    const char separator = format == table_format::csv ? ',' : '\t';
    buffer.resize(buffer_bytes);
    char* at = buffer.data();
    for (std::size_t i = 0; i < ids.size(); ++i) {
      at = put(at, ids[i]);
      *at++ = separator;
      if (!is_missing(values[i])) at = put(at, values[i]);
      *at++ = '\n';
      const auto used = static_cast<std::size_t>(at - buffer.data());
      if (used + max_row_bytes > buffer_bytes || i + 1 == ids.size()) {
        file->write({buffer.data(), used});
        at = buffer.data();
      }
    }
  }

  template <class T>
  void append_binary(std::span<const std::uint64_t> ids, std::span<const T> values) {
    static_assert(sizeof(T) == 8);
    buffer.resize(buffer_bytes);
    std::size_t used = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      std::memcpy(buffer.data() + used, &ids[i], 8);
      std::memcpy(buffer.data() + used + 8, &values[i], 8);
      used += 16;
      if (used == buffer_bytes || i + 1 == ids.size()) {
        file->write({buffer.data(), used});
        used = 0;
      }
    }
  }
};

std::optional<table_format> table_format_of(std::string_view path) noexcept {
  const auto inner = without_compression(path);
  if (inner.ends_with(".csv")) return table_format::csv;
  if (inner.ends_with(".tsv")) return table_format::tsv;
  if (inner.ends_with(".npy")) return table_format::npy;
  return std::nullopt;
}

void expect_table_holds(const std::string& path, bool text_ids) {
  if (!text_ids || table_format_of(path) != table_format::npy) return;
  throw usage_error(path +
                    ": a .npy file holds numbers, but this graph has text ids: write a .csv or "
                    ".tsv file");
}

table_writer::table_writer(const std::string& path, const table_shape& shape,
                           const write_check& check) {
  const auto& [value_name, value_kind, num_rows, words, ids_as_values] = shape;
  CAIRN_EXPECTS(!ids_as_values || value_kind == 0);
  CAIRN_EXPECTS(value_kind < std::variant_size_v<value_vector>);
  CAIRN_EXPECTS(!value_name.empty() &&
                value_name.find_first_of(",\t\r\n'\"\\") == std::string::npos);
  const auto format = table_format_of(path);
  if (!format) throw usage_error(path + ": " + expected_table_endings);
  expect_table_holds(path, words != nullptr);
  state_ = std::make_unique<state>(
      state{create_file(path, check), *format, value_kind, num_rows, words, ids_as_values, {}});
  switch (*format) {
    case table_format::csv:
      state_->file->write("id," + value_name + "\n");
      break;
    case table_format::tsv:
      state_->file->write("id\t" + value_name + "\n");
      break;
    case table_format::npy:
      state_->file->write(npy_header(value_name, value_kind, num_rows));
      break;
  }
}

table_writer::~table_writer() = default;
table_writer::table_writer(table_writer&&) noexcept = default;

void table_writer::append(std::span<const std::uint64_t> ids, value_span values) {
  CAIRN_EXPECTS(values.index() == state_->value_kind);
  CAIRN_EXPECTS(ids.size() <= state_->rows_left);
  state_->rows_left -= ids.size();
  std::visit(
      [&](auto column) {
        CAIRN_EXPECTS(column.size() == ids.size());
        if (state_->format == table_format::npy) {
          state_->append_binary(ids, column);
        } else if (state_->words != nullptr) {
          state_->append_texts(ids, column);
        } else {
          state_->append_text(ids, column);
        }
      },
      values);
}

void table_writer::finish() {
  CAIRN_EXPECTS(state_->rows_left == 0);
  state_->file->finish();
}

void write_table(const std::string& path, const table& rows) {
  table_writer file(path, {.value_name = rows.value_name,
                           .value_kind = rows.values.index(),
                           .num_rows = rows.ids.size()});
  file.append(rows.ids, std::visit([](const auto& column) { return value_span(std::span(column)); },
                                   rows.values));
  file.finish();
}

table read_table(task::pool& workers, const std::string& path, std::uint64_t max_rows,
                 const word_list* words, const name_predicate& holds_ids) {
  const auto format = table_format_of(path);
  if (!format) throw input_error::in_file(path, expected_table_endings);
  switch (*format) {
    case table_format::csv:
      return read_text_table(workers, path, ',', max_rows, words, holds_ids);
    case table_format::tsv:
      return read_text_table(workers, path, '\t', max_rows, words, holds_ids);
    case table_format::npy:
      break;
  }
  if (words != nullptr) {
    throw input_error::in_file(path, "a .npy file holds numbers, but the graph has text ids");
  }
  return read_npy(workers, mapped_file(path), max_rows);
}

}  // namespace cairn::graph::io
