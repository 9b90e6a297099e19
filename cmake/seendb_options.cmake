# Compiler settings of the project's own targets, and the one way to declare a room.

# Inside somebody else's build our warnings are their business only if they ask for them.
set(SEENDB_WARNINGS)
if(PROJECT_IS_TOP_LEVEL OR SEENDB_WERROR)
  set(SEENDB_WARNINGS -Wall -Wextra -Wshadow -Wconversion)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # GCC 12 sees overlap, and sizes beyond memory, in "x" + std::string (PR105651, PR105329).
    list(APPEND SEENDB_WARNINGS -Wno-restrict -Wno-stringop-overflow)
  endif()
endif()
if(SEENDB_WERROR)
  list(APPEND SEENDB_WARNINGS -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")  # engine/base/thread_annotations.h
  list(APPEND SEENDB_WARNINGS -Wthread-safety -Wthread-safety-beta -Werror=thread-safety
       -Werror=thread-safety-beta)
endif()

# What makes a fault of memory end the process rather than be used; of what is shipped.
set(SEENDB_HARDENING)
if(PROJECT_IS_TOP_LEVEL AND CMAKE_BUILD_TYPE STREQUAL "Release")
  set(SEENDB_HARDENING -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
  add_link_options(-Wl,-z,relro -Wl,-z,now)
endif()

add_library(seendb_settings INTERFACE)
target_compile_features(seendb_settings INTERFACE cxx_std_20)
target_compile_options(seendb_settings INTERFACE ${SEENDB_WARNINGS} ${SEENDB_HARDENING})
if(SEENDB_TESTS AND NOT CMAKE_BUILD_TYPE STREQUAL "Release")  # engine/base/pause_point.h
  target_compile_definitions(seendb_settings INTERFACE SEENDB_TEST_HOOKS)
endif()
if(SEENDB_SANITIZE)
  target_compile_options(seendb_settings INTERFACE
    -fsanitize=${SEENDB_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(seendb_settings INTERFACE -fsanitize=${SEENDB_SANITIZE})
  # Clang 14 can't assemble coroutines beside the check of what function pointers point to ("Cannot
  # represent a difference across sections"): targets with coroutines say so by a property.
  if(SEENDB_SANITIZE MATCHES undefined AND CMAKE_CXX_COMPILER_ID STREQUAL Clang)
    target_compile_options(seendb_settings INTERFACE
      $<$<BOOL:$<TARGET_PROPERTY:SEENDB_COROUTINES>>:-fno-sanitize=function>)
  endif()
endif()
if(SEENDB_FUZZ)  # a target with the property SEENDB_NOT_FUZZED is not what a fuzzer explores
  target_compile_options(seendb_settings INTERFACE
    $<$<NOT:$<BOOL:$<TARGET_PROPERTY:SEENDB_NOT_FUZZED>>>:-fsanitize=fuzzer-no-link>)
endif()
if(SEENDB_COVERAGE)
  target_compile_options(seendb_settings INTERFACE --coverage -fprofile-update=atomic)
  target_link_options(seendb_settings INTERFACE --coverage)
endif()

# seendb_include_root(OUT HOUSE NAME ENTRIES...): a folder with links to these rooms and headers of
# the house in the current folder, the include root of the room NAME. Its path goes into OUT. Includes
# are written from the top of the house ("filter/hash.h"); what has no link there does not compile.
function(seendb_include_root out house name)
  set(root ${PROJECT_BINARY_DIR}/include-roots/${house}/${name})
  file(MAKE_DIRECTORY ${root})
  file(GLOB present RELATIVE ${root} ${root}/*)
  foreach(entry IN LISTS present)
    if(NOT entry IN_LIST ARGN)
      file(REMOVE ${root}/${entry})
    endif()
  endforeach()
  foreach(entry IN LISTS ARGN)
    file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/${entry} ${root}/${entry} SYMBOLIC)
  endforeach()
  set(${out} ${root} PARENT_SCOPE)
endfunction()

# seendb_room(NAME ROOT folder SOURCES ... LINKS ...): one folder of a house, compiled once as an
# object library, with an include root of its own.
function(seendb_room name)
  cmake_parse_arguments(room "" "ROOT" "SOURCES;LINKS" ${ARGN})
  if(NOT room_SOURCES)
    set(room_SOURCES ${CMAKE_CURRENT_BINARY_DIR}/${name}_empty.cc)
    file(WRITE ${room_SOURCES} "")
  endif()
  add_library(${name} OBJECT ${room_SOURCES})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${name} PRIVATE ${room_ROOT})
  target_link_libraries(${name} PUBLIC $<BUILD_INTERFACE:seendb_settings> ${room_LINKS})
endfunction()
