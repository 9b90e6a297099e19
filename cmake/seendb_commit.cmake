# SEENDB_COMMIT: the commit that is checked out here;
# "unknown" where the sources are no checkout. SEENDB_COMMIT_TIME: its seconds since 1970, or nothing.
# CMake finds them when it configures, and configures again when HEAD moves.

set(SEENDB_COMMIT unknown)
set(SEENDB_COMMIT_TIME "")
find_program(SEENDB_GIT git)
mark_as_advanced(SEENDB_GIT)
if(SEENDB_GIT AND EXISTS ${PROJECT_SOURCE_DIR}/.git)
  execute_process(COMMAND ${SEENDB_GIT} -C ${PROJECT_SOURCE_DIR} rev-parse --short=12 HEAD
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed)
    set(SEENDB_COMMIT ${commit})
    execute_process(COMMAND ${SEENDB_GIT} -C ${PROJECT_SOURCE_DIR} log -1 --format=%ct
      OUTPUT_VARIABLE SEENDB_COMMIT_TIME OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    execute_process(COMMAND ${SEENDB_GIT} -C ${PROJECT_SOURCE_DIR} rev-parse --git-path logs/HEAD
      OUTPUT_VARIABLE head_log OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    cmake_path(ABSOLUTE_PATH head_log BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    if(EXISTS ${head_log})
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${head_log})
    endif()
  endif()
endif()
