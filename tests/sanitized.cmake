# Read by ctest: adds the tests of the build with sanitizers, when there is one beside this build.
set(sanitized "${CMAKE_CURRENT_LIST_DIR}/../build/asan-ubsan/tests/CTestTestfile.cmake")
if(EXISTS "${sanitized}" AND NOT DEFINED ENV{HEDDLE_NO_SANITIZED})
  include("${sanitized}")
endif()
