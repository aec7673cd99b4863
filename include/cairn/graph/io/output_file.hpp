// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace cairn::graph::io {

/// Throws to end the writing of a file, as task::pool::throw_if_interrupted does; empty: never.
using write_check = std::function<void()>;

/// A file being written. A regular file appears under its name atomically when it is finished.
///
/// The bytes go to a new file in the same folder, which replaces `path` in finish(). A reader, or a
/// mapping of `path` in this process, never sees a partial file. After a failure the old file is
/// unchanged. The target of a symbolic link is replaced, not the link. A pipe, a device or a
/// descriptor of this process (/dev/stdout) is written directly.
///
/// The check is called before every write, while a pipe has no reader or is full, and before the
/// file appears. What it throws leaves the call.
class output_file {
 public:
  /// Throws    usage_error if `path` cannot be written. Blocks until a pipe has a reader.
  explicit output_file(const std::string& path, write_check check = {});
  /// Removes the new file unless it was finished.
  ~output_file();
  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;

  /// Throws    system_failure if the bytes cannot be written.
  void write(const char* from, std::size_t bytes);
  /// Closes the file and renames it to `path`. Throws as write does.
  void finish();

 private:
  [[noreturn]] void fail(int error) const;
  void check() const {
    if (check_) check_();
  }
  [[nodiscard]] int open_direct(const std::string& path) const;
  void wait_until_writable() const;

  std::string path_;  // as the caller passed it
  write_check check_;
  std::string final_;  // with symbolic links resolved; empty if written directly
  std::string part_;   // name of the new file; empty if it has none
  int fd_ = -1;
  bool own_pipe_ = false;  // opened here
  bool may_wait_ = false;  // for a reader
};

/// Checks before long work that an output_file of this path can be created. It leaves no changes
/// and does not block on a pipe.
/// Throws    usage_error if it cannot
void expect_writable(const std::string& path);

}  // namespace cairn::graph::io
