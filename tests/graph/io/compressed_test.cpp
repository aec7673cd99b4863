// SPDX-License-Identifier: Apache-2.0
#include <cairn/graph/io/compressed.hpp>

#include "files.hpp"

namespace cairn::graph::io::compressed_test {
namespace {

using test::folder;

const std::vector<std::string> endings{"", ".gz", ".zst", ".xz"};

/// Lines that do not repeat, so that the compressed forms are long.
std::string long_text(int lines) {
  std::string text;
  std::uint64_t state = 1;
  for (int i = 0; i < lines; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    text += std::to_string(state >> 20) + '\n';
  }
  return text;
}

std::string unpacked(const std::string& path, std::size_t step = 1000) {
  const mapped_file file(path);
  const auto source = decompress(file);
  std::string all;
  std::string part(step, '\0');
  for (;;) {
    const auto n = source->read(part);
    all.append(part, 0, n);
    if (n < step) return all;
  }
}

TEST(Compressed, WhatIsWrittenReadsBackInStepsOfAnySize) {
  const folder dir;
  const auto text = long_text(50'000);
  for (const auto& ending : endings) {
    const auto path = dir.packed("text" + ending, text);
    for (const std::size_t step : {1009u, 65'536u, 10'000'000u}) {
      EXPECT_EQ(unpacked(path, step), text) << ending << ' ' << step;
    }
    EXPECT_EQ(test::bytes_of(path).size() < text.size(), !ending.empty()) << ending;
  }
}

TEST(Compressed, SeveralMembersReadAsOne) {
  const folder dir;
  for (const auto& ending : endings) {
    const auto first = test::bytes_of(dir.packed("a" + ending, "1 2\n"));
    const auto second = test::bytes_of(dir.packed("b" + ending, long_text(10'000)));
    const auto path = dir.plain("both" + ending, first + second);
    EXPECT_EQ(unpacked(path), "1 2\n" + long_text(10'000)) << ending;
  }
}

TEST(Compressed, ContentDecidesWhereTheNameIsSilent) {
  const folder dir;
  for (const auto& ending : endings) {
    const auto bytes = test::bytes_of(dir.packed("a" + ending, "1 2\n"));
    EXPECT_EQ(unpacked(dir.plain("a.txt", bytes)), "1 2\n") << ending;
  }
}

TEST(Compressed, ANameThatPromisesAnotherContentIsRefused) {
  const folder dir;
  for (const std::string ending : {".gz", ".zst", ".xz"}) {
    const auto path = dir.plain("a" + ending, "1 2\n");
    const auto said = test::sentence_of(path, [&] { unpacked(path); });
    EXPECT_NE(said.find("does not start with the"), std::string::npos) << said;
  }
}

TEST(Compressed, EveryTruncationIsAnError) {
  const folder dir;
  const auto text = long_text(200);
  for (const std::string ending : {".gz", ".zst", ".xz"}) {
    const auto whole = test::bytes_of(dir.packed("whole" + ending, text));
    for (std::size_t size = 8; size < whole.size(); ++size) {
      const auto path = dir.plain("cut" + ending, whole.substr(0, size));
      EXPECT_THROW(unpacked(path), input_error) << ending << " cut to " << size;
    }
  }
}

TEST(Compressed, EveryChangedByteOfTheDataIsAnErrorOrWithoutEffect) {
  const folder dir;
  const auto text = long_text(200);
  for (const std::string ending : {".gz", ".zst", ".xz"}) {
    const auto whole = test::bytes_of(dir.packed("whole" + ending, text));
    int errors = 0;
    for (std::size_t i = 0; i < whole.size(); ++i) {
      auto changed = whole;
      changed[i] = static_cast<char>(changed[i] ^ 0x10);
      try {
        // Some header bytes say nothing about the data (a time, the operating system).
        EXPECT_EQ(unpacked(dir.plain("changed" + ending, changed)), text) << ending << ' ' << i;
      } catch (const input_error&) {
        ++errors;
      }
    }
    EXPECT_GT(errors, static_cast<int>(whole.size()) - 20) << ending;
  }
}

TEST(Compressed, GarbageBehindAMemberIsAnErrorButZerosArePadding) {
  const folder dir;
  const auto member = test::bytes_of(dir.packed("a.gz", "1 2\n"));
  EXPECT_EQ(unpacked(dir.plain("b.gz", member + std::string(512, '\0'))), "1 2\n");
  EXPECT_THROW(unpacked(dir.plain("c.gz", member + "garbage")), input_error);
}

TEST(Compressed, AWindowOfMoreThan128MiBIsRefused) {
  using namespace std::string_literals;
  const folder dir;
  // A frame of no bytes: its window's logarithm is 10 more than the byte's upper five bits say.
  const auto frame = [](char window) { return "\x28\xb5\x2f\xfd\0"s + window + "\1\0\0"s; };
  EXPECT_EQ(unpacked(dir.plain("a.zst", frame(static_cast<char>(17 << 3)))), "");
  const auto path = dir.plain("b.zst", frame(static_cast<char>(18 << 3)));
  const auto said = test::sentence_of(path, [&] { unpacked(path); });
  EXPECT_NE(said.find("too much memory"), std::string::npos) << said;
}

TEST(Compressed, AnUnfinishedFileIsRemoved) {
  const folder dir;
  for (const auto& ending : endings) {
    {
      const auto file = create_file(dir / ("a" + ending));
      file->write("1 2\n");
    }
    EXPECT_FALSE(std::filesystem::exists(dir / ("a" + ending))) << ending;
  }
}

TEST(Compressed, AFileThatCannotBeCreatedIsAUsageError) {
  const folder dir;
  EXPECT_THROW(static_cast<void>(create_file(dir / "no/such/folder/a.gz")), usage_error);
}

TEST(Compressed, AFullDiskIsAnErrorAndNotAShortFile) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  const auto file = create_file("/dev/full");
  const std::string text(1 << 20, 'x');
  EXPECT_THROW(
      {
        file->write(text);
        file->finish();
      },
      system_failure);
}

}  // namespace
}  // namespace cairn::graph::io::compressed_test
