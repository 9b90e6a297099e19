# seendb_discover_tests(FOLDER LABEL label [TIMEOUT seconds] [PER_FOLDER] [LINKS targets...]):
# declares every test in tests/FOLDER. One program a C++ file, or one for the folder.

set(SEENDB_SANITIZER_ENV
  "ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:malloc_context_size=12:quarantine_size_mb=32"
  "UBSAN_OPTIONS=print_stacktrace=1"
  "LSAN_OPTIONS=suppressions=${CMAKE_CURRENT_LIST_DIR}/../support/lsan.supp:print_suppressions=0"
  "TSAN_OPTIONS=suppressions=${CMAKE_CURRENT_LIST_DIR}/../support/tsan.supp:history_size=4:second_deadlock_stack=1")
set(SEENDB_PROGRAM_ENV
  "SEENDB_BIN=${PROJECT_BINARY_DIR}/bin"
  "SEENDB_SERVER=${PROJECT_BINARY_DIR}/bin/seendb-server"
  "SEENDB_TOOL=${PROJECT_BINARY_DIR}/bin/seendb")
if(SEENDB_SANITIZE)
  list(APPEND SEENDB_PROGRAM_ENV "SEENDB_SAMPLE=5")  # support/sample.h
endif()
# Seconds of the tests that take long, by the beginnings of their names: ctest starts these first, so
# that none is left to run alone at the end.
set(SEENDB_LONG_TESTS
  integration_kafka.kills 85 integration_replay.kuairand 80 consumer.add_subdirectory 65
  integration_kafka.broker 47 integration_replay.retail 43 crash.history_kill 40 integration_http.load 38
  crash.kill 33 rot_history_rot 20 rot_verify 20 faults_power_cut 20 integration_http.slow_peers 18
  rot_repair 16 integration_tool.load 16 integration_tool.repair 15 integration_tool.folder 13
  integration_http.schemathesis 12 integration_server_ingest_mock 12 integration_http.protocol 11
  integration_http.process 10 faults_ingest 10 rot_damage 7 faults_heal 5 faults_every_io 5)

# seendb_cost(TEST OUT): how long it takes, 0 where it is none of the long ones.
function(seendb_cost test out)
  set(${out} 0 PARENT_SCOPE)
  set(long ${SEENDB_LONG_TESTS})
  while(long)
    list(POP_FRONT long begins seconds)
    string(FIND ${test} ${begins} at)
    if(at EQUAL 0)
      set(${out} ${seconds} PARENT_SCOPE)
      return()
    endif()
  endwhile()
endfunction()

set(SEENDB_TEST_ROOT ${CMAKE_CURRENT_LIST_DIR}/..)

function(seendb_test_program target label timeout)
  cmake_parse_arguments(program "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${target} ${program_SOURCES})
  target_link_libraries(${target} PRIVATE seendb_test_support ${program_LINKS})
  set_target_properties(${target} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/test)
  set(labels ${label})
  if(target MATCHES "concurrency")
    list(APPEND labels tsan)
  endif()
  gtest_discover_tests(${target} TEST_PREFIX "${target}." TEST_LIST ${target}_tests
    DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    PROPERTIES TIMEOUT ${timeout})
  # Properties that are lists don't get through gtest_discover_tests: set when ctest reads them.
  seendb_cost(${target} cost)
  set(script ${CMAKE_CURRENT_BINARY_DIR}/${target}_properties.cmake)
  file(WRITE ${script}
    "foreach(test IN LISTS ${target}_tests)\n"
    "  set_tests_properties(\"\${test}\" PROPERTIES COST ${cost} LABELS \"${labels}\"\n"
    "    ENVIRONMENT \"${SEENDB_PROGRAM_ENV};${SEENDB_SANITIZER_ENV}\")\n"
    "endforeach()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${script})
endfunction()

function(seendb_discover_tests folder)
  cmake_parse_arguments(arg "PER_FOLDER" "LABEL;TIMEOUT" "LINKS" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  set(path ${SEENDB_TEST_ROOT}/${folder})
  string(REPLACE "/" "_" prefix ${folder})

  file(GLOB sources CONFIGURE_DEPENDS ${path}/*_test.cc)
  if(sources AND arg_PER_FOLDER)
    seendb_test_program(${prefix} ${arg_LABEL} ${arg_TIMEOUT} SOURCES ${sources} LINKS ${arg_LINKS})
  else()
    foreach(source IN LISTS sources)
      get_filename_component(name ${source} NAME_WE)
      string(REGEX REPLACE "_test$" "" name ${name})
      seendb_test_program(${prefix}_${name} ${arg_LABEL} ${arg_TIMEOUT}
        SOURCES ${source} LINKS ${arg_LINKS})
    endforeach()
  endif()

  file(GLOB scripts CONFIGURE_DEPENDS ${path}/*_test.py)
  foreach(script IN LISTS scripts)
    get_filename_component(name ${script} NAME_WE)
    string(REGEX REPLACE "_test$" "" name ${name})
    set(labels ${arg_LABEL} python)
    if(name MATCHES "concurrency")
      list(APPEND labels tsan)
    endif()
    if(folder MATCHES "replay")
      list(APPEND labels real_log)
    elseif(folder MATCHES "kafka")
      list(APPEND labels real_kafka)
    endif()
    set(test ${prefix}.${name}.py)
    seendb_cost(${test} cost)
    add_test(NAME ${test} COMMAND ${Python3_EXECUTABLE} -B ${script}
      WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(${test} PROPERTIES
      LABELS "${labels}" TIMEOUT ${arg_TIMEOUT} COST ${cost} SKIP_RETURN_CODE 77
      ENVIRONMENT "${SEENDB_PROGRAM_ENV};${SEENDB_SANITIZER_ENV}")
  endforeach()
endfunction()

# seendb_discover_test_tree(FOLDER ...): the same for tests/FOLDER and every folder below it. The
# tests of a folder called server or tools (tool) link that house's rooms too, and are left out
# where it is not built.
function(seendb_discover_test_tree tree)
  file(GLOB_RECURSE found CONFIGURE_DEPENDS RELATIVE ${SEENDB_TEST_ROOT}
    ${SEENDB_TEST_ROOT}/${tree}/*_test.cc ${SEENDB_TEST_ROOT}/${tree}/*_test.py)
  set(folders)
  foreach(file IN LISTS found)
    get_filename_component(path ${file} DIRECTORY)
    list(APPEND folders ${path})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(path IN LISTS folders)
    set(links)
    if(path MATCHES "/server(/|$)")
      if(NOT SEENDB_SERVER)
        continue()
      endif()
      set(links seendb_server_ingest seendb_server_api seendb_server_ops seendb_server_http)
    elseif(path MATCHES "/tools?(/|$)")
      if(NOT SEENDB_TOOLS)
        continue()
      endif()
      set(links seendb_tool)
    endif()
    seendb_discover_tests(${path} LINKS ${links} ${ARGN})
  endforeach()
endfunction()
