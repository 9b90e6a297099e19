# Inside somebody else's project: our targets are optimised where that project says nothing about
# it. A project without a build type compiles without optimisation, in which the engine is several
# times slower. Its own targets are left as they are.

if(PROJECT_IS_TOP_LEVEL OR CMAKE_CONFIGURATION_TYPES)
  return()
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  message(NOTICE "SeenDB: CMAKE_BUILD_TYPE is Debug: the engine is not optimised and several times "
    "slower. Measure with Release or RelWithDebInfo.")
elseif(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CXX_FLAGS MATCHES "(^| )-O")
  message(NOTICE "SeenDB: no CMAKE_BUILD_TYPE: the engine's own targets are compiled with -O2")
  add_compile_options(-O2)  # for this folder and those below it
endif()
