# What `cmake --install` puts where: the engine's library, public headers and CMake package
# (component seendb_engine). The programs' own folders install them.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/seendb)
install(TARGETS seendb_engine EXPORT seendbTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT seendb_engine
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY engine/include/seendb DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT seendb_engine FILES_MATCHING PATTERN "*.h")
install(EXPORT seendbTargets NAMESPACE seendb:: DESTINATION ${package_dir}
  COMPONENT seendb_engine)
configure_package_config_file(cmake/seendbConfig.cmake.in
  ${PROJECT_BINARY_DIR}/seendbConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/seendbConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/seendbConfig.cmake
  ${PROJECT_BINARY_DIR}/seendbConfigVersion.cmake
  DESTINATION ${package_dir} COMPONENT seendb_engine)
