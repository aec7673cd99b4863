# Writes bench_commit.hpp, anew only if the commit is another one:
#   cmake -DSOURCE=<folder> -DOUTPUT=<file> -P write_commit.cmake
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND git describe --always --abbrev=12 --dirty=-changed --exclude=*
                WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE commit ERROR_QUIET
                OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT
     "namespace cairn::bench { inline constexpr char commit[] = \"@commit@\"; }\n" @ONLY)
