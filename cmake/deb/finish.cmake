# Run by cpack between installing into a folder and packing it.

execute_process(COMMAND ${CPACK_SEENDB_FINISH} --folder ${CPACK_TEMPORARY_DIRECTORY}
  --version ${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE} --maintainer "${CPACK_PACKAGE_CONTACT}"
  COMMAND_ERROR_IS_FATAL ANY)
