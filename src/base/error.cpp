// SPDX-License-Identifier: Apache-2.0
#include <cairn/base/error.hpp>

namespace cairn {

input_error input_error::in_file(const std::string& file, const std::string& problem) {
  return input_error(file + ": " + problem);
}

input_error input_error::at_line(const std::string& file, std::uint64_t line,
                                 const std::string& problem) {
  return input_error(file + ":" + std::to_string(line) + ": " + problem);
}

input_error input_error::at_byte(const std::string& file, std::uint64_t offset,
                                 const std::string& problem) {
  return input_error(file + ": at byte " + std::to_string(offset) + ": " + problem);
}

peer_failure::peer_failure(rank_t rank, const std::string& text)
    : system_failure("rank " + std::to_string(rank) + " failed: " + text), rank_(rank) {}

std::string text_of_exception() {
  try {
    throw;
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an exception of unknown type";
  }
}

}  // namespace cairn
