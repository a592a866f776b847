# What makes a first build shorter, at the price of later ones:
#   heddle_precompile(TARGET HEADER...)  compiles what most of a target's files include once, instead of once per file
#   heddle_precompile_as(TARGET OTHER)   takes what was compiled for another target of the same options and definitions
#   heddle_batch(TARGET)                 compiles a target's files several at a time ("unity" builds), which reads and
#                                        instantiates what they share once
#
# Names in unnamed namespaces are then one target's, not one file's (a test looks: tests/style/batch_names.hpp). Every
# file still includes what it uses and must compile alone; clang-tidy reads each by itself. With ccache, which keeps
# whole compilations and would find fewer of such batches again, the default is neither.
if(HEDDLE_CCACHE)
  set(first_build_default OFF)
else()
  set(first_build_default ON)
endif()
option(HEDDLE_FIRST_BUILD "Compile common headers once and files in batches" ${first_build_default})

# Thirty-two files together take three quarters of the time of four batches of eight, and 1.2 GB of memory; sixty-four a
# tenth less again, and up to 3.3 GB; four compilations run at once. Many processors would wait for the last of such
# batches.
cmake_host_system_information(RESULT processors QUERY NUMBER_OF_LOGICAL_CORES)
cmake_host_system_information(RESULT memory QUERY TOTAL_PHYSICAL_MEMORY)  # MiB
if(processors LESS 3 AND memory GREATER 12000)
  set(batch_default 64)
elseif(processors LESS 3)
  set(batch_default 32)
elseif(processors LESS 9)
  set(batch_default 16)
else()
  set(batch_default 8)
endif()
set(HEDDLE_BATCH ${batch_default} CACHE STRING "Files of a batch")

function(heddle_precompile target)
  if(HEDDLE_FIRST_BUILD)
    target_precompile_headers(${target} PRIVATE ${ARGN})
    heddle_precompiled_warnings(${target})
  endif()
endfunction()

function(heddle_precompile_as target other)
  if(HEDDLE_FIRST_BUILD)
    target_precompile_headers(${target} REUSE_FROM ${other})
    heddle_precompiled_warnings(${target})
  endif()
endfunction()

function(heddle_precompiled_warnings target)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC 12 takes what is inlined from precompiled headers for code of ours, and reports endless copies inside
    # std::string there that cannot happen (bug 105651). Without precompiled headers these warnings stay on.
    target_compile_options(${target} PRIVATE -Wno-stringop-overflow -Wno-stringop-overread -Wno-array-bounds)
  endif()
endfunction()

function(heddle_batch target)
  if(HEDDLE_FIRST_BUILD)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${HEDDLE_BATCH})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # GCC takes a batch's files for headers, in which a member of an unnamed namespace's type would be an error.
      target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
    endif()
  endif()
endfunction()
