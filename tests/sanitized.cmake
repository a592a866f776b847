# Read by ctest: adds the tests of the build with sanitizers, and the fuzz targets built there, when there is such a build
# beside this one.
set(sanitized "${CMAKE_CURRENT_LIST_DIR}/../build/asan-ubsan/tests")
if(EXISTS "${sanitized}/CTestTestfile.cmake" AND NOT DEFINED ENV{HEDDLE_NO_SANITIZED})
  include("${sanitized}/CTestTestfile.cmake")
  include("${sanitized}/fuzz/CTestTestfile.cmake")
endif()
