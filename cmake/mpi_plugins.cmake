# One file, src/net/mpi_plugin.c, is compiled once for each MPI that is found: its types differ
# between MPIs, and a process opens the one that its launcher speaks. find_package(MPI) finds a
# single MPI; pkg-config knows each by its own name. The plugins lie in <build>/lib and are
# installed to <prefix>/lib/cairn, also where libraries go elsewhere: a program in <prefix>/bin
# finds them from where it lies, and others where CAIRN_PLUGIN_FOLDER says.

set(CAIRN_PLUGINS)

function(cairn_mpi_plugin name module)
  pkg_check_modules(mpi_${name} QUIET IMPORTED_TARGET ${module})
  if(NOT mpi_${name}_FOUND)
    message(STATUS "No plugin for ${name}: pkg-config does not know ${module}")
    return()
  endif()
  set(target cairn_mpi_${name})
  add_library(${target} MODULE ${PROJECT_SOURCE_DIR}/src/net/mpi_plugin.c)
  set_target_properties(${target} PROPERTIES C_STANDARD 11 C_VISIBILITY_PRESET hidden)
  target_compile_options(${target} PRIVATE -Wall -Wextra)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include
                             ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${target} PRIVATE PkgConfig::mpi_${name})
  install(TARGETS ${target} LIBRARY DESTINATION lib/cairn)
  set(CAIRN_PLUGINS ${CAIRN_PLUGINS} ${target} PARENT_SCOPE)
endfunction()

set_source_files_properties(src/net/mpi.cpp PROPERTIES COMPILE_DEFINITIONS
                            CAIRN_PLUGIN_FOLDER="${CMAKE_INSTALL_PREFIX}/lib/cairn")
if(CAIRN_MPI)
  cairn_mpi_plugin(mpich mpich)
  cairn_mpi_plugin(openmpi ompi-c)
endif()
