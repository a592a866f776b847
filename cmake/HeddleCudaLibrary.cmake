# A library of CUDA's for programs: host code that checks and launches, and kernels, compiled as the workloads' are and
# put into the library as PTX. Programs link libheddle_<name>.so by the name that CUDA's has (HeddleToolkit.cmake).

# heddle_library_kernels(LIBRARY FILE NAME [MACRO...]): kernels/FILE.cu of this folder, compiled with the macros, becomes
# the library's file NAME.
function(heddle_library_kernels library file name)
  set(folder ${PROJECT_BINARY_DIR}/kernels)
  if(HEDDLE_KERNELS)
    set(folder ${HEDDLE_KERNELS})
  endif()
  file(MAKE_DIRECTORY ${folder})
  set(output ${folder}/${library}.${name}.ptx)
  if(NOT HEDDLE_KERNELS)
    list(TRANSFORM ARGN PREPEND -D OUTPUT_VARIABLE macros)
    heddle_kernel(${CMAKE_CURRENT_SOURCE_DIR}/kernels/${file}.cu 64 ${output} ${macros})
  endif()
  set_property(DIRECTORY APPEND PROPERTY heddle_kernel_names ${name})
  set_property(DIRECTORY APPEND PROPERTY heddle_kernel_outputs ${output})
endfunction()

# heddle_cuda_library(LIBRARY SOURCE...): the target heddle_<LIBRARY>, of the kernels of this folder that came before.
function(heddle_cuda_library library)
  get_property(names DIRECTORY PROPERTY heddle_kernel_names)
  get_property(outputs DIRECTORY PROPERTY heddle_kernel_outputs)
  list(GET outputs 0 first)
  cmake_path(GET first PARENT_PATH folder)
  list(JOIN names "," joined)
  set(scripts ${PROJECT_SOURCE_DIR}/cmake)
  set(embedded ${PROJECT_BINARY_DIR}/generated/embedded_${library}.cpp)
  add_custom_command(
    OUTPUT ${embedded}
    COMMAND ${CMAKE_COMMAND} -DLIBRARY=${library} -DKERNELS=${folder} -DNAMES=${joined} -DOUTPUT=${embedded} -P
            ${scripts}/HeddleEmbedLibrary.cmake
    DEPENDS ${outputs} ${scripts}/HeddleEmbedLibrary.cmake ${scripts}/HeddleEmbedText.cmake
    COMMENT "Embedding the kernels of ${library}"
    VERBATIM)
  set(target heddle_${library})
  add_library(${target} SHARED ${ARGN} ${embedded})
  set_target_properties(${target} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR} CXX_VISIBILITY_PRESET hidden
                                             VISIBILITY_INLINES_HIDDEN ON BUILD_WITH_INSTALL_RPATH ON
                                             INSTALL_RPATH "$ORIGIN")
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/cuda/include
                                               ${PROJECT_SOURCE_DIR}/cuda/include/runtime)
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_compile_options(${target} PRIVATE -Wall -Wextra)
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_options(${target} PRIVATE -O1)
  endif()
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/${library}.map "{ global: ${library}*; local: *; };\n")
  target_link_options(${target} PRIVATE LINKER:--version-script=${CMAKE_CURRENT_BINARY_DIR}/${library}.map)
  set_property(GLOBAL APPEND PROPERTY heddle_cudart_names ${target})
  install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()
