// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include <cairn/base/error.hpp>

namespace cairn::support {

/// A new folder, removed by the destructor.
class temporary_folder {
 public:
  temporary_folder() {
    auto name = (std::filesystem::temp_directory_path() / "cairn-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw system_failure(name + ": cannot be made");
    path_ = name;
  }
  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;

  [[nodiscard]] std::string operator/(const std::string& name) const {
    return (path_ / name).string();
  }

 private:
  std::filesystem::path path_;
};

/// A new file with this text, removed by the destructor.
class temporary_file {
 public:
  explicit temporary_file(const std::string& text) { std::ofstream(path) << text; }

 private:
  temporary_folder folder_;

 public:
  const std::string path = folder_ / "file";
};

}  // namespace cairn::support
