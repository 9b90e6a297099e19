# Headers that most sources of a house include, parsed once for all of them. Only what nearly all
# include belongs here: GCC instantiates what its inline functions need in every source anew.

option(SEENDB_PRECOMPILE "Parse common headers once" ${PROJECT_IS_TOP_LEVEL})

# seendb_precompile(NAME [PIC] HEADERS ... LINKS targets...): an object library that owns the
# precompiled headers. PIC as the targets that use them have it.
function(seendb_precompile name)
  cmake_parse_arguments(pch "PIC" "" "HEADERS;LINKS" ${ARGN})
  if(NOT SEENDB_PRECOMPILE)
    return()
  endif()
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}.cc CONTENT "")
  add_library(${name} OBJECT ${CMAKE_CURRENT_BINARY_DIR}/${name}.cc)
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ${pch_PIC})
  target_link_libraries(${name} PRIVATE seendb_settings ${pch_LINKS})
  target_precompile_headers(${name} PRIVATE ${pch_HEADERS})
endfunction()

# seendb_use_precompiled(NAME TARGETS...): these targets include NAME's headers before their own.
function(seendb_use_precompiled name)
  if(NOT SEENDB_PRECOMPILE)
    return()
  endif()
  foreach(target IN LISTS ARGN)
    target_precompile_headers(${target} REUSE_FROM ${name})
  endforeach()
endfunction()

set(SEENDB_STD_HEADERS
  <algorithm> <array> <atomic> <charconv> <chrono> <cstdint> <cstring> <functional> <map> <memory>
  <mutex> <optional> <span> <string> <string_view> <utility> <vector>)
