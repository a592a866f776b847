# Read by ctest: adds the tests of the builds with sanitizers, and the fuzz targets where they are built there, when there
# are such builds beside this one.
set(sanitized "${CMAKE_CURRENT_LIST_DIR}/../build/asan-ubsan/tests")
if(EXISTS "${sanitized}/CTestTestfile.cmake" AND NOT DEFINED ENV{HEDDLE_NO_SANITIZED})
  include("${sanitized}/CTestTestfile.cmake")
  file(STRINGS "${sanitized}/CTestTestfile.cmake" fuzz REGEX "^subdirs.*fuzz")
  if(fuzz)
    include("${sanitized}/fuzz/CTestTestfile.cmake")
  endif()
endif()
set(sanitized "${CMAKE_CURRENT_LIST_DIR}/../build/tsan/tests")
if(EXISTS "${sanitized}/threads_tests" AND NOT DEFINED ENV{HEDDLE_NO_SANITIZED})
  include("${sanitized}/CTestTestfile.cmake")
endif()
