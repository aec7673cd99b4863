// SPDX-License-Identifier: Apache-2.0
#include "native_file.hpp"

#include <algorithm>
#include <cstring>

#include <cairn/graph/io/compressed.hpp>

namespace cairn::graph::io {

native_file::native_file(const std::string& path) : file_(path) {
  if (compression_of(file_) == compression::none) {
    bytes_ = std::as_bytes(std::span(file_.data(), file_.size()));
  } else {
    inflate();
  }
  if (bytes_.size() < sizeof header_) {
    throw input_error::at_byte(path, bytes_.size(), "the file ends within its header");
  }
  std::memcpy(&header_, bytes_.data(), sizeof header_);
  header_.validate(path);
  if (bytes_.size() != header_.file_bytes()) {
    throw input_error::at_byte(path, std::min<std::uint64_t>(bytes_.size(), header_.file_bytes()),
                               "the file has " + std::to_string(bytes_.size()) +
                                   " bytes, but its header describes " +
                                   std::to_string(header_.file_bytes()));
  }
}

// Grows with what comes, not with what the header promises.
void native_file::inflate() {
  const auto from = decompress(file_);
  std::size_t filled = 0;
  do {
    inflated_.resize(std::max<std::size_t>(std::size_t{1} << 20, 2 * inflated_.size()));
    filled += from->read(std::span(inflated_).subspan(filled));
  } while (filled == inflated_.size());
  inflated_.resize(filled);
  bytes_ = std::as_bytes(std::span<const char>(inflated_));
}

}  // namespace cairn::graph::io
