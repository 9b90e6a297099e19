# Configures, builds and runs a consumer in a fresh folder; with INSTALL_FROM the engine of that
# build folder is installed first. Variables: SOURCE, BUILD, OPTIONS, INSTALL_FROM, PREFIX.

function(must)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    string(REPLACE ";" " " command "${ARGV}")
    message(FATAL_ERROR "failed: ${command}")
  endif()
endfunction()

file(REMOVE_RECURSE ${BUILD})
if(INSTALL_FROM)
  file(REMOVE_RECURSE ${PREFIX})
  must(${CMAKE_COMMAND} --install ${INSTALL_FROM} --component seendb_engine --prefix ${PREFIX})
  list(APPEND OPTIONS -DCMAKE_PREFIX_PATH=${PREFIX})
endif()
must(${CMAKE_COMMAND} -S ${SOURCE} -B ${BUILD} ${OPTIONS})
must(${CMAKE_COMMAND} --build ${BUILD} --target consumer --parallel 2)
must(${BUILD}/consumer ${BUILD}/database)
file(REMOVE_RECURSE ${BUILD}/database)
