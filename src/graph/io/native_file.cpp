// SPDX-License-Identifier: Apache-2.0
#include "native_file.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace cairn::graph::io {
namespace {

constexpr std::size_t max_at_once = std::size_t{1} << 20;  // bytes that decompress in milliseconds

[[noreturn]] void fail_size(const std::string& path, std::uint64_t found, const std::string& text,
                            std::uint64_t described) {
  throw input_error::at_byte(
      path, std::min(found, described),
      "the file has " + text + " bytes, but its header describes " + std::to_string(described));
}

}  // namespace

native_file::native_file(const std::string& path) : file_(path) {
  std::array<char, sizeof header_> start{};
  std::size_t bytes_read = 0;
  if (compression_of(file_) == compression::none) {
    bytes_ = std::as_bytes(std::span(file_.data(), file_.size()));
    bytes_read = std::min(start.size(), bytes_.size());
    std::memcpy(start.data(), bytes_.data(), bytes_read);
  } else {
    stream_ = decompress(file_);
    bytes_read = stream_->read(start);
  }
  if (bytes_read < start.size()) {
    throw input_error::at_byte(path, bytes_read, "the file ends within its header");
  }
  std::memcpy(&header_, start.data(), sizeof header_);
  header_.validate(path);
  if (!header_.has_attachment()) header_.attachment = {};
  if (!stream_ && bytes_.size() != header_.file_bytes()) {
    fail_size(path, bytes_.size(), std::to_string(bytes_.size()), header_.file_bytes());
  }
}

// The buffer takes no memory until it is filled, so an exaggerated size in a header costs nothing.
void native_file::inflate(const std::function<void()>& check) {
  if (!stream_) return;
  const auto size = header_.file_bytes();
  inflated_ = hw::page_buffer<char>(size);
  const auto all = inflated_.span();
  std::memcpy(all.data(), &header_, sizeof header_);
  std::size_t filled = sizeof header_, part = 0;
  do {
    check();
    part = stream_->read(all.subspan(filled, std::min(max_at_once, all.size() - filled)));
    filled += part;
  } while (part == max_at_once);
  if (filled != size) fail_size(path(), filled, std::to_string(filled), size);
  char more = 0;  // reading to the end also verifies the compression's checksum
  if (stream_->read({&more, 1}) != 0) {
    fail_size(path(), size, "more than " + std::to_string(size), size);
  }
  stream_.reset();
  bytes_ = std::as_bytes(std::span<const char>(all));
}

}  // namespace cairn::graph::io
