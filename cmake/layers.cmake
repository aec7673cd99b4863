# One target per layer: cairn_<name> from src/<name>/**.cpp, with include/ as its interface.
#
#   cairn_layer(NAME [LINK layer...] [PRIVATE target...])

function(cairn_layer name)
  cmake_parse_arguments(ARG "" "" "LINK;PRIVATE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp)
  set(target cairn_${name})
  if(sources)
    add_library(${target} STATIC ${sources})
    set(scope PUBLIC)
    target_compile_options(${target} PRIVATE ${CAIRN_WARNINGS})
    target_link_libraries(${target} PRIVATE ${ARG_PRIVATE})
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(cairn::${name} ALIAS ${target})
  target_include_directories(${target} ${scope}
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
  target_compile_features(${target} ${scope} cxx_std_20)
  list(TRANSFORM ARG_LINK PREPEND cairn_)
  target_link_libraries(${target} ${scope} ${ARG_LINK})
  if(CAIRN_CHECKS AND name STREQUAL base)
    target_compile_definitions(${target} ${scope} CAIRN_CHECKS)
  endif()
endfunction()

set(CAIRN_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
    -Wnon-virtual-dtor -Woverloaded-virtual)

if(CAIRN_SANITIZE)
  add_compile_options(-fsanitize=${CAIRN_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${CAIRN_SANITIZE})
endif()
