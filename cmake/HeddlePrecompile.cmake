# heddle_precompile(TARGET HEADER...): compiles what most of a target's files include once, instead of once per file.
#
# Every file still includes what it uses: with ccache, which keeps whole compilations and would keep fewer of these, the
# default is not to precompile.
if(HEDDLE_CCACHE)
  set(precompile_default OFF)
else()
  set(precompile_default ON)
endif()
option(HEDDLE_PRECOMPILE "Compile common headers once per library and test program" ${precompile_default})

function(heddle_precompile target)
  if(HEDDLE_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE ${ARGN})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # GCC 12 takes what is inlined from precompiled headers for code of ours, and reports endless copies inside
      # std::string there that cannot happen (bug 105651). Without precompiled headers these warnings stay on.
      target_compile_options(${target} PRIVATE -Wno-stringop-overflow -Wno-stringop-overread -Wno-array-bounds)
    endif()
  endif()
endfunction()
