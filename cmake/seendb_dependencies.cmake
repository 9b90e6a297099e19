# The libraries that SeenDB links, as imported targets. One that is missing is named together with
# the Debian package that has it.

list(PREPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR}/modules)

# seendb_find(PACKAGE DEBIAN ...): find_package(PACKAGE ...), visible to whoever adds the project.
macro(seendb_find package debian)
  find_package(${package} ${ARGN} QUIET GLOBAL)
  if(NOT ${package}_FOUND)
    message(FATAL_ERROR "SeenDB needs ${package}, which CMake did not find. On Debian: "
      "apt-get install ${debian}; tools/setup installs everything that is needed.")
  endif()
endmacro()

# The engine links the first three, and reads JSON by the fourth, which is headers alone.
seendb_find(RocksDB librocksdb-dev CONFIG)
seendb_find(xxHash libxxhash-dev)
seendb_find(Threads libc6-dev)
seendb_find(nlohmann_json nlohmann-json3-dev CONFIG)
if(SEENDB_SERVER OR SEENDB_TOOLS)
  seendb_find(Boost libboost-dev 1.74)
  seendb_find(CLI11 libcli11-dev CONFIG)
  seendb_find(RdKafka librdkafka-dev)
  seendb_find(zstd libzstd-dev CONFIG)
  seendb_find(ZLIB zlib1g-dev)
  seendb_find(OpenSSL libssl-dev)
  seendb_find(Hiredis libhiredis-dev MODULE)
  seendb_find(date libhowardhinnant-date-dev CONFIG)
  seendb_find(simdjson libsimdjson-dev CONFIG)
endif()
if(SEENDB_SERVER)
  seendb_find(prometheus-cpp prometheus-cpp-dev CONFIG)
  seendb_find(spdlog libspdlog-dev CONFIG)
  # Without protobuf the server answers all but the Connect protocol (server/connect).
  find_package(Protobuf QUIET GLOBAL)
  set(found OFF)
  if(Protobuf_FOUND AND TARGET protobuf::protoc)
    set(found ON)
  endif()
  option(SEENDB_CONNECT "Answer the Connect protocol too (needs protobuf)" ${found})
  if(SEENDB_CONNECT)
    seendb_find(Protobuf "libprotobuf-dev protobuf-compiler")
  endif()
endif()
if(SEENDB_TESTS)
  seendb_find(GTest "libgtest-dev libgmock-dev")
  seendb_find(CLI11 libcli11-dev CONFIG)  # of the simulation
endif()
