# What `cmake --install` puts where: the libraries of the engine and of recovery, public headers, CMake
# package, pkg-config file, licence and documents (component seendb_engine). The programs' own folders
# install them.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/seendb)
install(TARGETS seendb_engine seendb_recovery EXPORT seendbTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT seendb_engine
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY engine/include/seendb DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT seendb_engine FILES_MATCHING PATTERN "*.h" PATTERN "*.def")
install(EXPORT seendbTargets NAMESPACE seendb:: DESTINATION ${package_dir}
  COMPONENT seendb_engine)
configure_package_config_file(cmake/seendbConfig.cmake.in
  ${PROJECT_BINARY_DIR}/seendbConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/seendbConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/seendbConfig.cmake
  ${PROJECT_BINARY_DIR}/seendbConfigVersion.cmake
  DESTINATION ${package_dir} COMPONENT seendb_engine)
install(FILES cmake/modules/FindxxHash.cmake DESTINATION ${package_dir}/modules
  COMPONENT seendb_engine)

# A static library brings the libraries that it needs in Libs, not in Libs.private. The paths are
# relative, so that --prefix may be another one when it is installed.
file(RELATIVE_PATH SEENDB_PC_UP /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" SEENDB_PC_UP ${SEENDB_PC_UP})
configure_file(cmake/seendb.pc.in ${PROJECT_BINARY_DIR}/seendb.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/seendb.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
  COMPONENT seendb_engine)

install(FILES LICENSE README.md CHANGELOG.md ARCHITECTURE.md SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR}
  COMPONENT seendb_engine)
install(DIRECTORY engine/doc DESTINATION ${CMAKE_INSTALL_DOCDIR}/engine COMPONENT seendb_engine
  FILES_MATCHING PATTERN "*.md")
if(SEENDB_SERVER)  # with the programs
  install(FILES server/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/server)
  install(DIRECTORY server/doc DESTINATION ${CMAKE_INSTALL_DOCDIR}/server FILES_MATCHING PATTERN "*.md")
  configure_file(cmake/seendb.service.in ${PROJECT_BINARY_DIR}/seendb.service @ONLY)
  install(FILES cmake/seendb.json ${PROJECT_BINARY_DIR}/seendb.service docker/config/alerts.yml
    DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
endif()
