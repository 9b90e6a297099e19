# Installs the engine of a build folder and compiles a program with what pkg-config says, without
# CMake. Variables: INSTALL_FROM, PREFIX, LIBDIR, DOCDIR, PKG_CONFIG, COMPILER, SOURCE, BUILD.

function(run result error)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(${result} "${out}" PARENT_SCOPE)
  set(${error} "${err}" PARENT_SCOPE)
  set(code "${code}" PARENT_SCOPE)
endfunction()

function(must)
  run(out err ${ARGV})
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "failed: ${ARGV}\n${out}\n${err}")
  endif()
  set(out "${out}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${PREFIX} ${BUILD})
file(MAKE_DIRECTORY ${BUILD})
must(${CMAKE_COMMAND} --install ${INSTALL_FROM} --component seendb_engine --prefix ${PREFIX})
foreach(file LICENSE README.md CHANGELOG.md ARCHITECTURE.md SECURITY.md engine/doc/consistency.md)
  if(NOT EXISTS ${PREFIX}/${DOCDIR}/${file})
    message(FATAL_ERROR "not installed: ${DOCDIR}/${file}")
  endif()
endforeach()

set(ENV{PKG_CONFIG_PATH} ${PREFIX}/${LIBDIR}/pkgconfig)
must(${PKG_CONFIG} --modversion seendb)
must(${PKG_CONFIG} --cflags --libs seendb)
separate_arguments(flags UNIX_COMMAND "${out}")
must(${COMPILER} -std=c++20 ${SOURCE} -o ${BUILD}/consumer ${flags})
must(${BUILD}/consumer ${BUILD}/database)
get_filename_component(sources ${SOURCE} DIRECTORY)
must(${COMPILER} -std=c++20 ${sources}/repair.cc -o ${BUILD}/repairer ${flags})

# An older mode is told what is missing, in the first error.
run(out err ${COMPILER} -std=c++17 -fsyntax-only ${SOURCE} ${flags})
string(FIND "${err}" "error:" first)
string(FIND "${err}" "SeenDB's headers need C++20" said)
if(code EQUAL 0 OR first EQUAL -1 OR said EQUAL -1)
  message(FATAL_ERROR "C++17 is not refused: ${err}")
endif()
string(SUBSTRING "${err}" ${first} -1 err)
string(REGEX MATCH "^[^\n]*" line "${err}")
if(NOT line MATCHES "C\\+\\+20")
  message(FATAL_ERROR "another error comes first: ${line}")
endif()
