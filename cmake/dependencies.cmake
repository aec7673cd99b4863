# What the layers link. cmake/cairnConfig.cmake.in names the same for installed trees.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(Boost REQUIRED COMPONENTS context)
pkg_check_modules(hwloc REQUIRED IMPORTED_TARGET hwloc)
pkg_check_modules(zlib REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(lzma REQUIRED IMPORTED_TARGET liblzma)

# What only the command line, the benchmarks and the tests use.
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
if(CAIRN_TESTS)
  find_package(GTest REQUIRED)
endif()
if(CAIRN_BENCH)
  find_package(Boost QUIET COMPONENTS context OPTIONAL_COMPONENTS fiber)  # a figure's baseline
endif()
