# What `cmake --install` puts where, by component:
#   seendb_engine     the libraries of the engine, of recovery, of items, of sets and of the client, public
#                     headers, CMake package, pkg-config files
#   seendb_c          the shared library for C; its header and the link for linkers are in seendb_engine
#   seendb_documents  licence and documents
#   seendb_programs   the programs (their own folders install them), man pages, completions, OpenAPI,
#                     alerts, the bill of materials
#   seendb_samples    settings and a unit of systemd to be copied; cmake/seendb_packages.cmake has its own

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/seendb)
install(TARGETS seendb_engine seendb_recovery seendb_items seendb_sets EXPORT seendbTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT seendb_engine
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET seendb_client)
  install(TARGETS seendb_client EXPORT seendbClientTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT seendb_engine
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT seendbClientTargets NAMESPACE seendb:: DESTINATION ${package_dir}
    COMPONENT seendb_engine)
  install(DIRECTORY clients/cpp/include/seendb DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    COMPONENT seendb_engine FILES_MATCHING PATTERN "*.h")
endif()
install(TARGETS seendb_c EXPORT seendbCTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT seendb_c NAMELINK_COMPONENT seendb_engine
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT seendbCTargets NAMESPACE seendb:: DESTINATION ${package_dir}
  COMPONENT seendb_engine)
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
configure_file(cmake/seendb-c.pc.in ${PROJECT_BINARY_DIR}/seendb-c.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/seendb.pc ${PROJECT_BINARY_DIR}/seendb-c.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT seendb_engine)

# Scripts write where the files belong, not into the build's folder first: several may install at once.
function(seendb_installed_to folder variable)  # as seen by a script of install()
  if(IS_ABSOLUTE ${folder})
    set(${variable} "\$ENV{DESTDIR}${folder}" PARENT_SCOPE)
  else()
    set(${variable} "\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${folder}" PARENT_SCOPE)
  endif()
endfunction()
seendb_installed_to(${CMAKE_INSTALL_DOCDIR} documents)
seendb_installed_to(${CMAKE_INSTALL_DATADIR} share)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT seendb_documents)
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
  install(CODE "execute_process(COMMAND \"${Python3_EXECUTABLE}\" \"${PROJECT_SOURCE_DIR}/cmake/documents.py\"
    \"${PROJECT_SOURCE_DIR}\" \"${documents}\" COMMAND_ERROR_IS_FATAL ANY)" COMPONENT seendb_documents)
else()
  message(STATUS "no documents are installed but the licence: python3 is not there")
endif()
if(SEENDB_SERVER)
  configure_file(cmake/seendb.service.in ${PROJECT_BINARY_DIR}/seendb.service @ONLY)
  configure_file(cmake/seendb-backup.service.in ${PROJECT_BINARY_DIR}/seendb-backup.service @ONLY)
  install(FILES cmake/seendb.json ${PROJECT_BINARY_DIR}/seendb.service
    ${PROJECT_BINARY_DIR}/seendb-backup.service cmake/seendb-backup.timer
    DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples COMPONENT seendb_samples)
  install(FILES docker/config/alerts.yml server/api/openapi.json server/api/openapi_admin.json
    DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples COMPONENT seendb_programs)
  install(DIRECTORY docker/config/grafana DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples
    COMPONENT seendb_programs FILES_MATCHING PATTERN "*.json")
endif()
if(SEENDB_SERVER AND SEENDB_TOOLS AND Python3_FOUND AND NOT CMAKE_CROSSCOMPILING)
  install(CODE "execute_process(COMMAND \"${Python3_EXECUTABLE}\" \"${PROJECT_SOURCE_DIR}/cmake/manual.py\"
    \"$<TARGET_FILE_DIR:seendb>\" \"${share}\" COMMAND_ERROR_IS_FATAL ANY)"
    COMPONENT seendb_programs)
  find_program(SEENDB_DPKG_QUERY dpkg-query)
  if(SEENDB_DPKG_QUERY)  # the bill of materials of the programs as they are installed
    seendb_installed_to(${CMAKE_INSTALL_BINDIR} programs)
    install(CODE "execute_process(COMMAND \"${Python3_EXECUTABLE}\" -B \"${PROJECT_SOURCE_DIR}/tools/sbom\"
      --bin \"${programs}\" --out \"${documents}/sbom.cdx.json\" COMMAND_ERROR_IS_FATAL ANY)"
      COMPONENT seendb_programs)
  endif()
endif()
if(SEENDB_SERVER AND SEENDB_TOOLS AND Python3_FOUND)
  include(cmake/seendb_packages.cmake)
endif()
