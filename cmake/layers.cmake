# One target per layer: cairn_<name>, alias cairn::<name>, from src/<name>/**.cpp and
# include/cairn/<name>/**.hpp.
#
#   cairn_layer(NAME [LINK layer...] [PRIVATE target...])
#
# CAIRN_LAYERS lists the layers so far, lower ones first. The target
# all_verify_interface_header_sets compiles each header alone.

# g++ 12 warns of overlapping copies in its own std::string operator+ (GCC bug 105651).
set(CAIRN_WARNINGS $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict> -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
    -Wnon-virtual-dtor -Woverloaded-virtual
    # A literal after && in an assertion is meant to be converted.
    $<$<CXX_COMPILER_ID:Clang>:-Wno-string-conversion>)

# For the command line, the benchmarks and the examples. What is hot lies in the libraries, and
# nobody times a build with checks: optimising there would only make it slower to compile.
set(CAIRN_PROGRAM_OPTIONS ${CAIRN_WARNINGS})
if(CAIRN_CHECKS)
  list(APPEND CAIRN_PROGRAM_OPTIONS -O0)
endif()

# Headers of the standard library that most files include: to read them takes a third to a half of
# what compiling a small file costs. No header of Cairn, so that none goes missing unseen.
set(CAIRN_PRECOMPILED <algorithm> <array> <atomic> <bit> <cmath> <concepts> <cstring> <functional>
    <limits> <memory> <mutex> <numeric> <optional> <span> <string> <tuple> <variant> <vector>)

set(CMAKE_VERIFY_INTERFACE_HEADER_SETS ON)
set(CAIRN_LAYERS)

# Never joined by CMAKE_UNITY_BUILD: files that use a name of another file of their layer, and those
# whose templates take longer than the headers they would share.
set(CAIRN_APART
    core/settings core/supervisor algo/bfs algo/coloring algo/components algo/graphalytics algo/kcore
    algo/maxflow algo/mst algo/pagerank algo/sssp algo/st_connectivity algo/triangles
    algo/verify_kcore algo/verify_mst algo/verify_sssp algo/verify_walk)
list(TRANSFORM CAIRN_APART REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/src/\\1.cpp")
set_source_files_properties(${CAIRN_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

# The time of a search's inner loop, by Cairn or by hand, changes by 30 % with where it lies in its
# cache lines: it must not depend on what is linked before it.
add_compile_options($<$<CONFIG:Release>:-falign-functions=64>)

if(CAIRN_SANITIZE)
  add_compile_options(-fsanitize=${CAIRN_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${CAIRN_SANITIZE})
endif()

if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  link_libraries(atomic)  # loads and stores of 16 bytes are calls there
  # As g++ defines them.
  if(CAIRN_SANITIZE MATCHES address)
    add_compile_definitions(__SANITIZE_ADDRESS__)
  elseif(CAIRN_SANITIZE MATCHES thread)
    add_compile_definitions(__SANITIZE_THREAD__)
  endif()
endif()

function(cairn_layer name)
  cmake_parse_arguments(ARG "" "" "LINK;PRIVATE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/cairn/${name}/*.hpp)
  set(target cairn_${name})
  if(sources)
    add_library(${target} STATIC ${sources})
    set(scope PUBLIC)
    target_compile_options(${target} PRIVATE ${CAIRN_WARNINGS})
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${target} PRIVATE ${ARG_PRIVATE})
    if(target STREQUAL cairn_base)
      target_precompile_headers(${target} PRIVATE ${CAIRN_PRECOMPILED})
    else()
      target_precompile_headers(${target} REUSE_FROM cairn_base)
    endif()
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(cairn::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_sources(${target} ${scope} FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/include
                 FILES ${headers})
  target_compile_features(${target} ${scope} cxx_std_20)
  list(TRANSFORM ARG_LINK PREPEND cairn_)
  target_link_libraries(${target} ${scope} ${ARG_LINK})
  if(CAIRN_CHECKS AND name STREQUAL base)
    target_compile_definitions(${target} ${scope} CAIRN_CHECKS)
  endif()
  set(CAIRN_LAYERS ${CAIRN_LAYERS} ${name} PARENT_SCOPE)
endfunction()
