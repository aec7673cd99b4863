# Headers, static libraries, the CMake package (cairn::cairn, cairn::<layer>) and cairn.pc.
include(CMakePackageConfigHelpers)

add_library(cairn INTERFACE)
add_library(cairn::cairn ALIAS cairn)
set(targets cairn)
set(archives)
foreach(layer IN LISTS CAIRN_LAYERS)
  target_link_libraries(cairn INTERFACE cairn_${layer})
  list(APPEND targets cairn_${layer})
  get_target_property(type cairn_${layer} TYPE)
  if(type STREQUAL STATIC_LIBRARY)
    list(PREPEND archives -lcairn_${layer})  # a linker wants the upper layers first
  endif()
endforeach()

install(TARGETS ${targets} EXPORT cairn
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/cairn)
install(EXPORT cairn NAMESPACE cairn:: FILE cairnTargets.cmake DESTINATION ${package_dir})
configure_package_config_file(cmake/cairnConfig.cmake.in cairnConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(cairnConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/cairnConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/cairnConfigVersion.cmake
        DESTINATION ${package_dir})

# The prefix is found from where cairn.pc lies, so an installed tree may be moved.
set(pc_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH pc_to_prefix /${pc_dir} /)
list(JOIN archives " " pc_archives)
set(pc_cflags)
if(CAIRN_CHECKS)
  set(pc_cflags -DCAIRN_CHECKS)
endif()
if(CAIRN_SANITIZE)
  string(APPEND pc_cflags " -fsanitize=${CAIRN_SANITIZE}")
  string(PREPEND pc_archives "-fsanitize=${CAIRN_SANITIZE} ")
endif()
configure_file(cmake/cairn.pc.in cairn.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/cairn.pc DESTINATION ${pc_dir})
