// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <thread>

#include <cairn/core/world.hpp>
#include <cairn/graph/io/native.hpp>
#include <cairn/graph/io/output_file.hpp>

#include "files.hpp"

namespace cairn::graph::io {
namespace {

namespace fs = std::filesystem;
using test::folder;

void write(const std::string& path, std::string_view text) {
  output_file file(path);
  file.write(text.data(), text.size());
  file.finish();
}

std::ptrdiff_t files_in(const folder& here) {
  return std::distance(fs::directory_iterator(here / ""), fs::directory_iterator());
}

TEST(OutputFile, TheOldContentStaysUntilTheNewOneIsFinished) {
  const folder here;
  const auto path = here.plain("a", "old");
  {
    output_file file(path);
    file.write("new", 3);
    EXPECT_EQ(test::bytes_of(path), "old");
    file.finish();
    EXPECT_EQ(test::bytes_of(path), "new");
  }
  { output_file(path).write("unfinished", 10); }
  EXPECT_EQ(test::bytes_of(path), "new");
  { output_file(here / "b").write("unfinished", 10); }
  EXPECT_EQ(files_in(here), 1) << "only a";
}

TEST(OutputFile, AGraphMayBeWrittenOverTheFileThatItIsAMappingOf) {
  const folder here;
  world w(2);
  for (const std::string name : {"g.cairn", "g.cairn.gz"}) {
    std::vector<std::uint64_t> offsets{0};
    std::vector<std::uint32_t> targets;
    for (std::uint32_t v = 0; v < 10'000; ++v) {
      targets.push_back(v);
      offsets.push_back(targets.size());
    }
    const auto path = here / name;
    write_native(w.pool(), path, {true, targets.size(), offsets, std::span(targets), {}, {}});
    const auto before = test::bytes_of(path);
    const auto graph = read_native(w, path);
    write_native(w.pool(), path, native_view(std::get<0>(graph)));
    EXPECT_TRUE(test::bytes_of(path) == before);
  }
}

TEST(OutputFile, AReplacedFileKeepsItsModeAndItsLinks) {
  const folder here;
  const auto path = here.plain("a", "old");
  fs::permissions(path, fs::perms(0640));
  fs::create_hard_link(path, here / "hard");
  fs::create_symlink("a", here / "soft");
  fs::create_symlink("none", here / "dangling");
  write(here / "soft", "new");
  EXPECT_TRUE(fs::is_symlink(here / "soft"));
  EXPECT_EQ(test::bytes_of(path), "new");
  EXPECT_EQ(fs::status(path).permissions(), fs::perms(0640));
  EXPECT_EQ(test::bytes_of(here / "hard"), "old") << "another name of the old file";
  write(here / "dangling", "new");
  EXPECT_TRUE(fs::is_symlink(here / "dangling"));
  EXPECT_EQ(test::bytes_of(here / "none"), "new");
}

TEST(OutputFile, NamesOfAnyLengthThatTheSystemTakesWork) {
  const folder here;
  const std::string longest(255, 'x');
  write(here / longest, "1");
  write(here / longest, "2");
  EXPECT_EQ(test::bytes_of(here / longest), "2");
  EXPECT_EQ(files_in(here), 1);
}

TEST(OutputFile, APipeIsWrittenDirectlyAndAskingDoesNotOpenIt) {
  const folder here;
  const auto path = here / "pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  expect_writable(path);  // nobody reads yet
  std::string read;
  std::thread reader([&] { read = test::bytes_of(path); });
  write(path, "1 2\n");
  reader.join();
  EXPECT_EQ(read, "1 2\n");
  EXPECT_TRUE(fs::is_fifo(path));
}

TEST(OutputFile, ADescriptorOfThisProcessIsWrittenWhereItStands) {
  const folder here;
  const auto path = here / "a";
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(::write(fd, "before ", 7), 7);
  fs::create_symlink("/dev/fd/" + std::to_string(fd), here / "link");
  expect_writable(here / "link");
  write(here / "link", "during ");
  write("/proc/self/fd/" + std::to_string(fd), "too ");
  ASSERT_EQ(::write(fd, "after", 5), 5);
  close(fd);
  EXPECT_EQ(test::bytes_of(path), "before during too after");
  EXPECT_EQ(files_in(here), 2);
}

TEST(OutputFile, WhatCannotBeWrittenIsRefusedBeforeAndWhenItIsMade) {
  const folder here;
  fs::create_directory(here / "folder");
  fs::create_symlink("loop", here / "loop");
  for (const std::string name : {"folder", "no/such/folder", "loop"}) {
    EXPECT_THROW(expect_writable(here / name), usage_error) << name;
    EXPECT_THROW(output_file(here / name), usage_error) << name;
  }
  EXPECT_THROW(expect_writable(""), usage_error);
  if (geteuid() == 0) return;  // who may do everything
  fs::permissions(here.plain("read_only", "x"), fs::perms(0400));
  EXPECT_THROW(expect_writable(here / "read_only"), usage_error);
  EXPECT_THROW(output_file(here / "read_only"), usage_error);
}

TEST(OutputFile, AskingLeavesNothingBehindAndChangesNothing) {
  const folder here;
  expect_writable(here / "new");
  EXPECT_EQ(files_in(here), 0);
  const auto path = here.plain("old", "old");
  expect_writable(path);
  EXPECT_EQ(test::bytes_of(path), "old");
  EXPECT_EQ(files_in(here), 1);
  expect_writable("/dev/null");
  write("/dev/null", "x");
}

}  // namespace
}  // namespace cairn::graph::io
