# Read by cpack before it packs: the packages' times are that of the commit, so that two packings have
# the same bytes.

if(NOT DEFINED ENV{SOURCE_DATE_EPOCH} AND NOT CPACK_SEENDB_COMMIT_TIME STREQUAL "")
  set(ENV{SOURCE_DATE_EPOCH} ${CPACK_SEENDB_COMMIT_TIME})
endif()
