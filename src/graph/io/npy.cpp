// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>

#include <cairn/base/error.hpp>
#include <cairn/graph/io/scan.hpp>

#include "table_format.hpp"

namespace cairn::graph::io {
namespace {

using namespace std::string_view_literals;

static_assert(std::endian::native == std::endian::little,
              "fields are written in the machine's byte order");

constexpr auto magic = "\x93NUMPY"sv;
constexpr std::array<const char*, 3> type_of_kind{"<u8", "<i8", "<f8"};
constexpr std::size_t row_bytes = 16;
constexpr std::size_t max_header_bytes = std::size_t{1} << 16;

/// The contents of a supported header.
struct npy_shape {
  std::string value_name;
  std::size_t value_kind = 0;
  bool signed_ids = false;
  std::uint64_t num_rows = 0;
};

/// Parses a dictionary as NumPy writes it: "{'descr': [('id', '<u8'), ...], 'fortran_order': False,
/// 'shape': (5,), }". Its entries may come in any order.
class dictionary_parser {
 public:
  dictionary_parser(std::string_view text, const std::string& path, std::uint64_t offset)
      : text_(text), path_(path), offset_(offset) {}

  npy_shape parse() {
    expect("{");
    while (!accept("}")) {
      const auto key = word();
      expect(":");
      if (key == "descr") {
        parse_fields();
      } else if (key == "fortran_order") {
        if (!accept("False") && !accept("True")) fail("True or False");
      } else if (key == "shape") {
        parse_shape();
      } else {
        fail("'descr', 'fortran_order' or 'shape'");
      }
      accept(",");
    }
    if (shape_.value_name.empty() || !has_shape_)
      fail("both 'descr' and 'shape' in the dictionary");
    return shape_;
  }

 private:
  [[noreturn]] void fail(const std::string& expected) const {
    const auto found = text_.substr(at_);
    throw input_error::at_byte(path_, offset_ + at_,
                               "in the header of the array: expected " + expected + ", found " +
                                   quoted(found.data(), found.data() + found.size()));
  }
  void skip_space() {
    while (at_ < text_.size() && (is_blank(text_[at_]) || text_[at_] == '\n')) ++at_;
  }
  bool accept(std::string_view token) {
    skip_space();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!accept(token)) fail("'" + std::string(token) + "'");
  }
  std::string word() {
    expect("'");
    const auto end = text_.find('\'', at_);
    if (end == std::string_view::npos || end == at_) fail("a name between quotation marks");
    const auto found = text_.substr(at_, end - at_);
    at_ = end + 1;
    return std::string(found);
  }
  std::size_t kind() {
    skip_space();
    const auto before = at_;
    const auto type = word();
    const auto* const found = std::find(type_of_kind.begin(), type_of_kind.end(), type);
    if (found != type_of_kind.end()) return static_cast<std::size_t>(found - type_of_kind.begin());
    at_ = before;
    fail("a type '<u8', '<i8' or '<f8'");
  }
  void parse_fields() {
    if (!accept("[")) fail("a structured array with two fields");
    expect("(");
    if (word() != "id") fail("a first field named 'id'");
    expect(",");
    const auto id_kind = kind();
    if (id_kind == 2) fail("ids that are integers");
    shape_.signed_ids = id_kind == 1;
    expect(")");
    expect(",");
    expect("(");
    shape_.value_name = word();
    expect(",");
    shape_.value_kind = kind();
    expect(")");
    expect("]");
  }
  void parse_shape() {
    expect("(");
    skip_space();
    std::uint64_t n = 0;
    const auto start = at_;
    for (; at_ < text_.size() && is_digit(text_[at_]); ++at_) {
      if (at_ - start > 15) fail("a smaller number of rows");
      n = n * 10 + static_cast<std::uint64_t>(text_[at_] - '0');
    }
    if (at_ == start) fail("a number of rows");
    expect(",");
    expect(")");
    shape_.num_rows = n;
    has_shape_ = true;
  }

  std::string_view text_;
  const std::string& path_;
  std::uint64_t offset_;
  std::size_t at_ = 0;
  npy_shape shape_;
  bool has_shape_ = false;
};

/// Fills `out`, or throws if the file ends too early.
void read_exactly(byte_source& from, std::span<char> out, const std::string& path,
                  std::uint64_t offset, const std::string& problem) {
  const auto n = from.read(out);
  if (n == out.size()) return;
  throw input_error::at_byte(path, offset + n, "the file ends " + problem);
}

npy_shape read_header(byte_source& from, const std::string& path, std::uint64_t& offset) {
  std::array<char, 12> start{};
  read_exactly(from, {start.data(), 10}, path, 0, "within its header");
  if (std::string_view(start.data(), magic.size()) != magic) {
    throw input_error::at_byte(path, 0, "the file does not start with the .npy signature");
  }
  const int version = start[6];
  if (version < 1 || version > 3) {
    throw input_error::at_byte(
        path, 6, "expected version 1, 2 or 3 of the .npy format, found " + std::to_string(version));
  }
  const auto byte = [&](std::size_t i) {
    return static_cast<std::size_t>(static_cast<unsigned char>(start[i]));
  };
  offset = 10;
  std::size_t length = byte(8) | byte(9) << 8;
  if (version > 1) {
    read_exactly(from, {start.data() + 10, 2}, path, offset, "within its header");
    length |= byte(10) << 16 | byte(11) << 24;
    offset = 12;
  }
  if (length > max_header_bytes) {
    throw input_error::at_byte(path, 8,
                               "the header of version " + std::to_string(version) + " declares " +
                                   std::to_string(length) + " bytes, expected at most 64 KiB");
  }
  std::string text(length, '\0');
  read_exactly(from, text, path, offset, "within its header");
  auto shape = dictionary_parser(text, path, offset).parse();
  offset += length;
  return shape;
}

template <class T>
void read_rows(task::pool& workers, byte_source& from, const std::string& path,
               std::uint64_t offset, const npy_shape& shape, table& rows) {
  auto& values = rows.values.emplace<std::vector<T>>();
  // Storage grows with the rows read: a wrong number of rows in the header allocates nothing.
  std::vector<char> buffer(row_bytes << 12);
  while (rows.ids.size() < shape.num_rows) {
    workers.throw_if_interrupted();
    const auto want =
        std::min<std::uint64_t>(buffer.size() / row_bytes, shape.num_rows - rows.ids.size());
    read_exactly(from, std::span(buffer).first(want * row_bytes), path,
                 offset + rows.ids.size() * row_bytes,
                 "at or after row " + std::to_string(rows.ids.size()) +
                     ", but its header declares " + std::to_string(shape.num_rows) + " rows");
    for (std::uint64_t i = 0; i < want; ++i) {
      std::uint64_t id = 0;
      T value{};
      std::memcpy(&id, buffer.data() + i * row_bytes, sizeof id);
      std::memcpy(&value, buffer.data() + i * row_bytes + 8, sizeof value);
      if (shape.signed_ids && static_cast<std::int64_t>(id) < 0) {
        throw input_error::at_byte(path, offset + rows.ids.size() * row_bytes,
                                   "expected an id, found a negative number");
      }
      rows.ids.push_back(id);
      values.push_back(value);
    }
  }
  if (from.read(std::span(buffer).first(1)) != 0) {
    throw input_error::at_byte(path, offset + rows.ids.size() * row_bytes,
                               "the file contains data after the " +
                                   std::to_string(shape.num_rows) +
                                   " rows that its header declares");
  }
}

}  // namespace

std::string npy_header(const std::string& value_name, std::size_t value_kind,
                       std::uint64_t num_rows) {
  std::string text = "{'descr': [('id', '<u8'), ('" + value_name + "', '" +
                     type_of_kind[value_kind] + "')], 'fortran_order': False, 'shape': (" +
                     std::to_string(num_rows) + ",), }";
  constexpr std::size_t prefix = magic.size() + 4;
  text.append(63 - (prefix + text.size()) % 64, ' ');
  text += '\n';
  const auto length = text.size();
  return std::string(magic) + '\x01' + '\0' + static_cast<char>(length & 255) +
         static_cast<char>(length >> 8) + text;
}

table read_npy(task::pool& workers, const mapped_file& file, std::uint64_t max_rows) {
  const auto from = decompress(file);
  std::uint64_t offset = 0;
  const auto shape = read_header(*from, file.path(), offset);
  if (shape.num_rows > max_rows) throw too_many_rows(file.path(), max_rows);
  table rows;
  rows.value_name = shape.value_name;
  switch (shape.value_kind) {
    case 0:
      read_rows<std::uint64_t>(workers, *from, file.path(), offset, shape, rows);
      break;
    case 1:
      read_rows<std::int64_t>(workers, *from, file.path(), offset, shape, rows);
      break;
    default:
      read_rows<double>(workers, *from, file.path(), offset, shape, rows);
  }
  return rows;
}

}  // namespace cairn::graph::io
