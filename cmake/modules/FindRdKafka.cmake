# Defines RdKafka::rdkafka. Debian's librdkafka-dev has no CMake package of its own.

find_path(RdKafka_INCLUDE_DIR librdkafka/rdkafka.h)
find_library(RdKafka_LIBRARY rdkafka)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(RdKafka REQUIRED_VARS RdKafka_LIBRARY RdKafka_INCLUDE_DIR)
mark_as_advanced(RdKafka_INCLUDE_DIR RdKafka_LIBRARY)
if(RdKafka_FOUND AND NOT TARGET RdKafka::rdkafka)
  add_library(RdKafka::rdkafka UNKNOWN IMPORTED GLOBAL)
  set_target_properties(RdKafka::rdkafka PROPERTIES IMPORTED_LOCATION ${RdKafka_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${RdKafka_INCLUDE_DIR})
endif()
