# seendb_test_part(PART [LINKS targets...]): the tests of tests/PART. seendb_declare_tests(), called
# once after all parts, makes ctest ask declare.py for their cases.

set(SEENDB_SANITIZER_ENV
  "ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:malloc_context_size=4:quarantine_size_mb=32"
  "UBSAN_OPTIONS=print_stacktrace=1"
  "LSAN_OPTIONS=suppressions=${CMAKE_CURRENT_LIST_DIR}/../support/lsan.supp:print_suppressions=0"
  "TSAN_OPTIONS=suppressions=${CMAKE_CURRENT_LIST_DIR}/../support/tsan.supp:history_size=4:second_deadlock_stack=1")
set(SEENDB_PROGRAM_ENV
  "SEENDB_BIN=${PROJECT_BINARY_DIR}/bin"
  "SEENDB_SERVER=${PROJECT_BINARY_DIR}/bin/seendb-server"
  "SEENDB_TOOL=${PROJECT_BINARY_DIR}/bin/seendb")

set(SEENDB_TEST_ROOT ${CMAKE_CURRENT_SOURCE_DIR})
set(SEENDB_TEST_PROGRAMS ${PROJECT_BINARY_DIR}/test)

# seendb_tests_themselves(TARGETS...): code of tests, which costs more to compile than to run: not
# optimised (in the presets dev and asan), not explored by fuzzers.
function(seendb_tests_themselves)
  if(NOT SEENDB_SANITIZE MATCHES "address" AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    return()
  endif()
  foreach(target IN LISTS ARGN)
    if(NOT TARGET ${target})
      continue()  # precompiled headers may be switched off
    endif()
    set_target_properties(${target} PROPERTIES SEENDB_NOT_FUZZED ON)
    target_compile_options(${target} PRIVATE -O0)
  endforeach()
endfunction()

function(seendb_test_part part)
  cmake_parse_arguments(arg "" "" "LINKS" ${ARGN})
  set_property(GLOBAL APPEND PROPERTY SEENDB_TEST_PARTS ${part})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${SEENDB_TEST_ROOT}/${part}/*_test.cc)
  if(SEENDB_SANITIZE STREQUAL "thread")  # which looks at threads that meet, and is slow
    list(FILTER sources INCLUDE REGEX "concurrency")
  endif()
  if(SEENDB_ONLY_TESTS)  # tools/mutants compiles those that it runs
    list(FILTER sources INCLUDE REGEX "${SEENDB_ONLY_TESTS}")
  endif()
  if(NOT sources)
    return()
  endif()
  add_executable(${part}_tests ${sources})
  target_link_libraries(${part}_tests PRIVATE seendb_test_support GTest::gtest_main ${arg_LINKS})
  target_compile_definitions(${part}_tests PRIVATE SEENDB_TEST_FILE=alone)
  set_target_properties(${part}_tests PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${SEENDB_TEST_PROGRAMS}
    UNITY_BUILD "${SEENDB_TESTS_TOGETHER}" UNITY_BUILD_UNIQUE_ID SEENDB_TEST_FILE
    UNITY_BUILD_BATCH_SIZE 8)
  seendb_use_precompiled(seendb_test_headers ${part}_tests)
  seendb_tests_themselves(${part}_tests)
endfunction()

function(seendb_declare_tests)
  get_property(parts GLOBAL PROPERTY SEENDB_TEST_PARTS)
  set(arguments)
  foreach(part IN LISTS parts)
    string(APPEND arguments " --part ${part}")
  endforeach()
  foreach(setting IN LISTS SEENDB_PROGRAM_ENV SEENDB_SANITIZER_ENV)
    string(APPEND arguments " --set \"${setting}\"")
  endforeach()
  set(declared ${CMAKE_CURRENT_BINARY_DIR}/declared.cmake)
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/declare.cmake @ONLY CONTENT
"execute_process(COMMAND \"${Python3_EXECUTABLE}\" -B \"${SEENDB_TEST_ROOT}/cmake/declare.py\"
  --tests \"${SEENDB_TEST_ROOT}\" --programs \"${SEENDB_TEST_PROGRAMS}\" --output \"${declared}\"
  ${arguments} RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR \"tests/cmake/declare.py failed\")
endif()
include(\"${declared}\")
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES
    ${CMAKE_CURRENT_BINARY_DIR}/declare.cmake)
endfunction()
