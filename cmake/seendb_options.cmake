# Compiler settings of the project's own targets, and the one way to declare a room.

# Inside somebody else's build our warnings are their business only if they ask for them.
set(SEENDB_WARNINGS)
if(PROJECT_IS_TOP_LEVEL OR SEENDB_WERROR)
  set(SEENDB_WARNINGS -Wall -Wextra -Wshadow -Wconversion)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    list(APPEND SEENDB_WARNINGS -Wno-restrict)  # GCC 12 sees overlap in "x" + std::string (PR105651)
  endif()
endif()
if(SEENDB_WERROR)
  list(APPEND SEENDB_WARNINGS -Werror)
endif()

add_library(seendb_settings INTERFACE)
target_compile_features(seendb_settings INTERFACE cxx_std_20)
target_compile_options(seendb_settings INTERFACE ${SEENDB_WARNINGS})
if(SEENDB_SANITIZE)
  target_compile_options(seendb_settings INTERFACE
    -fsanitize=${SEENDB_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(seendb_settings INTERFACE -fsanitize=${SEENDB_SANITIZE})
endif()
if(SEENDB_FUZZ)
  target_compile_options(seendb_settings INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(SEENDB_COVERAGE)
  target_compile_options(seendb_settings INTERFACE --coverage -fprofile-update=atomic)
  target_link_options(seendb_settings INTERFACE --coverage)
endif()

# seendb_room(NAME SOURCES ... LINKS ...): one folder of a house, compiled once as an object
# library. Includes are written from the top of the house ("filter/hash.h").
function(seendb_room name)
  cmake_parse_arguments(room "" "" "SOURCES;LINKS" ${ARGN})
  if(NOT room_SOURCES)
    set(room_SOURCES ${CMAKE_CURRENT_BINARY_DIR}/${name}_empty.cc)
    file(WRITE ${room_SOURCES} "")
  endif()
  add_library(${name} OBJECT ${room_SOURCES})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(${name} PUBLIC $<BUILD_INTERFACE:seendb_settings> ${room_LINKS})
endfunction()
