# Compiler settings that every target shares.
option(HEDDLE_NATIVE "Compile for the processor of this machine" ON)
option(HEDDLE_WARNINGS_AS_ERRORS "Treat compiler warnings as errors" OFF)
set(HEDDLE_SANITIZE "" CACHE STRING "Sanitizers, as -fsanitize takes them (address,undefined)")
option(HEDDLE_COVERAGE "Measure test coverage" OFF)
set(HEDDLE_PROFILE "" CACHE STRING "What runs every cycle is compiled to record how it runs (record), or by that (use)")
option(HEDDLE_INSTRUMENTS "Let runs be watched, recorded and replayed (off: to measure what that costs)" ON)
set(HEDDLE_TESTS all CACHE STRING "Tests that are built (all, model)")
if(NOT HEDDLE_TESTS MATCHES "^(all|model)$")
  message(FATAL_ERROR "HEDDLE_TESTS is all or model, not '${HEDDLE_TESTS}'")
endif()
set(HEDDLE_KERNELS "" CACHE PATH "Folder of another build with the workloads' kernels, which are taken from there")
option(HEDDLE_FUZZ "Build the libFuzzer targets (clang)" OFF)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

add_library(heddle_settings INTERFACE)
target_compile_features(heddle_settings INTERFACE cxx_std_20)
# Results must not depend on the compiler's choice to fuse multiply and add: PTX says where to fuse.
# Vectors of lanes (isa/lane_vectors.hpp) go to and from functions that are inlined: how a processor without registers of
# their size would pass them is no matter.
target_compile_options(heddle_settings INTERFACE -Wall -Wextra -Wno-psabi -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 reports overlapping copies inside std::string that cannot happen (GCC bug 105651).
  target_compile_options(heddle_settings INTERFACE -Wno-restrict)
  # GCC looks for memory to take back each time that its heap has grown by a third. It need not below 1 GB, which hardly a
  # file reaches: a tenth less to compile.
  target_compile_options(heddle_settings INTERFACE --param=ggc-min-expand=400 --param=ggc-min-heapsize=1000000)
endif()
if(HEDDLE_NATIVE)
  target_compile_options(heddle_settings INTERFACE -march=native)
endif()
if(HEDDLE_WARNINGS_AS_ERRORS)
  target_compile_options(heddle_settings INTERFACE -Werror)
endif()
if(HEDDLE_SANITIZE)
  target_compile_options(heddle_settings INTERFACE -fsanitize=${HEDDLE_SANITIZE} -fno-sanitize-recover=all
                                                   -fno-omit-frame-pointer)
  target_link_options(heddle_settings INTERFACE -fsanitize=${HEDDLE_SANITIZE})
endif()
if(HEDDLE_COVERAGE)
  target_compile_options(heddle_settings INTERFACE --coverage)
  target_link_options(heddle_settings INTERFACE --coverage)
endif()

# heddle_profile(TARGET...): compiled by a profile of earlier runs, or to record one (./heddle build --profiled).
set(HEDDLE_PROFILE_FOLDER ${CMAKE_BINARY_DIR}/profile)
if(HEDDLE_PROFILE AND NOT HEDDLE_PROFILE MATCHES "^(record|use)$")
  message(FATAL_ERROR "HEDDLE_PROFILE is record, use or empty, not '${HEDDLE_PROFILE}'")
elseif(HEDDLE_PROFILE AND NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  message(FATAL_ERROR "HEDDLE_PROFILE=${HEDDLE_PROFILE} needs GCC; this is ${CMAKE_CXX_COMPILER_ID}")
elseif(HEDDLE_PROFILE STREQUAL "use" AND NOT EXISTS ${HEDDLE_PROFILE_FOLDER})
  message(FATAL_ERROR "there is no profile in ${HEDDLE_PROFILE_FOLDER}; ./heddle build --profiled makes one")
endif()
function(heddle_profile)
  foreach(target IN LISTS ARGN)
    if(HEDDLE_PROFILE STREQUAL "record")
      target_compile_options(${target} PRIVATE -fprofile-generate=${HEDDLE_PROFILE_FOLDER} -fprofile-update=prefer-atomic)
      target_link_options(${target} INTERFACE -fprofile-generate)
    elseif(HEDDLE_PROFILE STREQUAL "use")
      # What has not been run is compiled as ever, and so is what has changed since. Counts of several host threads may
      # disagree by some, which is no error.
      target_compile_options(${target} PRIVATE -fprofile-use=${HEDDLE_PROFILE_FOLDER} -fprofile-partial-training
                                               -fprofile-correction -Wno-missing-profile -Wno-coverage-mismatch)
      # Two neighbouring words are not put together in one register to be stored: who reads them soon after waits for the
      # store, and once functions are put into each other these are times and pointers that are read at once.
      target_compile_options(${target} PRIVATE -fno-tree-slp-vectorize)
      # Across files where the program is linked; tests, of which there are many, link what is compiled beside.
      target_compile_options(${target} PRIVATE -flto=auto -ffat-lto-objects)
      target_link_options(${target} INTERFACE
                          $<IF:$<BOOL:$<TARGET_PROPERTY:HEDDLE_ACROSS_FILES>>,-flto=auto,-fno-lto>)
    endif()
  endforeach()
endfunction()

find_program(HEDDLE_CCACHE ccache)
if(HEDDLE_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${HEDDLE_CCACHE})
endif()

# heddle_define(FILE NAME=VALUE...): defines macros for one source file. What names a folder of this checkout is given
# only to the files that use it, so that the compilations of all others are the same in every checkout (ccache).
function(heddle_define file)
  set_property(SOURCE ${file} APPEND PROPERTY COMPILE_DEFINITIONS ${ARGN})
endfunction()
