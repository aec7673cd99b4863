// SPDX-License-Identifier: Apache-2.0
//
// The program of libFuzzer: cairn_fuzz --target=NAME [its options] [folders].
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

#include "fuzz.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size,
                                        std::size_t max_bytes);

namespace {

const cairn::fuzz::target* chosen = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  constexpr std::string_view option = "--target=";
  for (int i = 1; i < *count; ++i) {
    const std::string_view argument((*arguments)[i]);
    if (argument == "--list") {
      for (const auto& t : cairn::fuzz::targets()) std::printf("%s\n", t.name.data());
      std::exit(0);
    }
    if (!argument.starts_with(option)) continue;
    try {
      chosen = &cairn::fuzz::target_named(argument.substr(option.size()));
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s\n", e.what());
      std::exit(2);
    }
  }
  if (chosen != nullptr) return 0;
  std::fprintf(stderr, "--target=NAME is missing; --list lists the names\n");
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  chosen->run({data, size});
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_bytes, unsigned seed) {
  if (chosen->mutate == nullptr) return LLVMFuzzerMutate(data, size, max_bytes);
  cairn::fuzz::bytes contents(data, data + size);
  const auto change = [](cairn::fuzz::bytes& part, std::size_t max_here) {
    const auto before = part.size();
    part.resize(std::max(before, max_here));
    part.resize(LLVMFuzzerMutate(part.data(), before, part.size()));
  };
  chosen->mutate(contents, change, seed);
  const auto kept = std::min(contents.size(), max_bytes);
  std::copy_n(contents.begin(), kept, data);
  return kept;
}
