// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace cairn::graph::io {

/// A file being written. A regular file appears under its name when it is finished, all at once.
///
/// The bytes go to a new file in the same folder, which replaces `path` in finish(): a reader, or
/// this process's own mapping of `path`, never sees a part, and after a failure the old file is as
/// it was. A symbolic link stays, and what it leads to is replaced. What is no regular file (a
/// pipe, a device) and a descriptor of this process (/dev/stdout) are written directly.
class output_file {
 public:
  /// Throws    usage_error if `path` cannot be written. Waits for a reader if it is a pipe.
  explicit output_file(const std::string& path);
  /// Removes the new file unless it was finished.
  ~output_file();
  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;

  /// Throws    system_failure if the bytes cannot be written.
  void write(const char* from, std::size_t bytes);
  /// Closes the file and gives it its name. Throws as write does.
  void finish();

 private:
  [[noreturn]] void fail(int error) const;

  std::string path_;   // as the caller named it
  std::string final_;  // behind symbolic links; empty if written directly
  std::string part_;   // the new file; empty if there is none
  int fd_ = -1;
};

/// Throws    usage_error if an output_file of that path could not be made. Changes nothing that
///           stays, and waits for nobody: to be asked before long work.
void expect_writable(const std::string& path);

}  // namespace cairn::graph::io
