# Debian's packages, made of a build folder by `cpack -G DEB -B INTO`: `seendb` (programs, unit of
# systemd, settings, documents), `libseendb-dev` (to embed the engine), and `libseendb1` (the C
# library). A package fits the release of Debian that built it.

find_program(SEENDB_DPKG_SHLIBDEPS dpkg-shlibdeps)
mark_as_advanced(SEENDB_DPKG_SHLIBDEPS)
if(NOT SEENDB_DPKG_SHLIBDEPS)
  return()  # no Debian, or no dpkg-dev
endif()
include(${CMAKE_CURRENT_LIST_DIR}/seendb_commit.cmake)
set(deb ${CMAKE_CURRENT_LIST_DIR}/deb)

# What the package installs and `cmake --install` does not.
set(only_packed COMPONENT seendb_package EXCLUDE_FROM_ALL)
block(SCOPE_FOR VARIABLES)
  set(CMAKE_INSTALL_FULL_BINDIR /usr/bin)
  configure_file(cmake/seendb.service.in ${PROJECT_BINARY_DIR}/deb/seendb.service @ONLY)
  configure_file(cmake/seendb-backup.service.in ${PROJECT_BINARY_DIR}/deb/seendb-backup.service @ONLY)
endblock()
install(FILES ${PROJECT_BINARY_DIR}/deb/seendb.service ${PROJECT_BINARY_DIR}/deb/seendb-backup.service
  cmake/seendb-backup.timer DESTINATION lib/systemd/system ${only_packed})
install(FILES ${deb}/sysusers.conf DESTINATION lib/sysusers.d RENAME seendb.conf ${only_packed})
install(FILES ${deb}/tmpfiles.conf DESTINATION lib/tmpfiles.d RENAME seendb.conf ${only_packed})
install(FILES cmake/seendb.json DESTINATION /etc/seendb ${only_packed})

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME seendb)
set(CPACK_PACKAGE_CONTACT "SeenDB maintainers <maintainers@seendb.example>")
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_SET_DESTDIR ON)  # the settings are not below the prefix
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
  GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PROJECT_CONFIG_FILE ${deb}/cpack.cmake)
set(CPACK_PRE_BUILD_SCRIPTS ${deb}/finish.cmake)
set(CPACK_SEENDB_COMMIT_TIME "${SEENDB_COMMIT_TIME}")
set(CPACK_SEENDB_FINISH ${Python3_EXECUTABLE} -B ${deb}/finish.py)

# A later release of Debian counts as newer, so that the upgrade of the system takes its package.
file(STRINGS /etc/os-release release REGEX "^VERSION_ID=")
string(REGEX REPLACE "[^0-9.]" "" release "${release}")
set(CPACK_DEBIAN_PACKAGE_RELEASE "1~deb${release}")

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_COMPONENTS_ALL seendb_programs seendb_documents seendb_package seendb_engine)
foreach(component IN ITEMS seendb_programs seendb_documents seendb_package)
  string(TOUPPER ${component} name)
  set(CPACK_COMPONENT_${name}_GROUP server)
endforeach()
set(CPACK_DEBIAN_SERVER_PACKAGE_NAME seendb)
set(CPACK_DEBIAN_SERVER_PACKAGE_SECTION database)
set(CPACK_DEBIAN_SERVER_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_SERVER_PACKAGE_DEPENDS
  "systemd-standalone-sysusers | systemd-sysusers, systemd-standalone-tmpfiles | systemd-tmpfiles")
set(CPACK_DEBIAN_SERVER_PACKAGE_CONTROL_EXTRA
  ${deb}/server/conffiles ${deb}/server/postinst ${deb}/server/prerm ${deb}/server/postrm)
set(CPACK_DEBIAN_SERVER_DESCRIPTION
"SeenDB remembers which items each user was served and which they watched,
and tells a recommender which of its thousands of candidates that user has
not seen. This package has the server with its unit of systemd, and the admin tool.")

set(CPACK_COMPONENT_SEENDB_ENGINE_GROUP dev)
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libseendb-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "librocksdb-dev, libxxhash-dev")
set(CPACK_DEBIAN_DEV_PACKAGE_RECOMMENDS "libssl-dev")  # of the client
set(CPACK_DEBIAN_DEV_DESCRIPTION
"Development files: headers and static libraries of SeenDB's engine for C++20, with a CMake package
and a pkg-config file, for programs that hold the database themselves.")

# The C library puts its file and the link of its soname into the component seendb_c, and the link for
# linkers, the header and its pkg-config file into seendb_engine.
if(TARGET seendb_c)
  list(APPEND CPACK_COMPONENTS_ALL seendb_c)
  set(CPACK_COMPONENT_SEENDB_C_GROUP lib)
  set(CPACK_DEBIAN_LIB_PACKAGE_NAME libseendb1)
  set(CPACK_DEBIAN_LIB_PACKAGE_SECTION libs)
  set(CPACK_DEBIAN_LIB_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_LIB_PACKAGE_CONTROL_EXTRA ${deb}/lib/shlibs)
  string(APPEND CPACK_DEBIAN_DEV_PACKAGE_DEPENDS ", libseendb1 (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
  set(CPACK_DEBIAN_LIB_DESCRIPTION
"The shared library through which programs in C, and in languages that call C,
hold a database of SeenDB themselves.")
endif()

include(CPack)
