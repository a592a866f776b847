# heddle_kernels(): compiles every workloads/*/*.cu with clang to PTX for 32- and 64-bit device addresses and puts the
# results into the library of the workloads (workloads/kernels.hpp), and the device headers and clang's options into
# the host's (cuda/compiler/embedded.hpp). NAME/kernel.cu is the workload's usual form and becomes NAME.<bits>,
# NAME/FORM.cu another one, NAME-FORM.<bits>.
#
# HEDDLE_KERNELS names a folder of kernels that another build of these sources has compiled, to be taken instead.
#
# The options stand in cuda/compiler/clang_options.txt, which the program uses too when it compiles a user's CUDA file.
find_program(HEDDLE_CLANG
             NAMES clang++ clang++-19 clang++-18 clang++-17 clang++-16 clang++-15 clang++-14
             DOC "clang++ that compiles CUDA kernels to PTX (Debian package: clang)")

# heddle_kernel(KERNEL BITS OUTPUT [OPTION...]): a rule that compiles one, with options besides.
function(heddle_kernel kernel bits output)
  if(NOT HEDDLE_CLANG)
    message(FATAL_ERROR "clang++ is needed to compile the CUDA kernels: install Debian's package clang, "
                        "or set HEDDLE_CLANG to the compiler")
  endif()
  set(options_file ${PROJECT_SOURCE_DIR}/cuda/compiler/clang_options.txt)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${options_file})
  file(STRINGS ${options_file} options)
  # Natural alignment of 64-bit values in 32-bit code too; the target names the host side, whose type sizes device code
  # shares, so that the result does not depend on the machine that builds.
  set(target_32 --target=i386-linux-gnu -malign-double)
  set(target_64 --target=x86_64-linux-gnu)
  file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cuda/include/heddle/*.h)
  file(GLOB shared CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/workloads/*.h ${PROJECT_SOURCE_DIR}/workloads/*/*.inc
       ${PROJECT_SOURCE_DIR}/cuda/*/kernels/*.h)
  file(RELATIVE_PATH source ${PROJECT_SOURCE_DIR} ${kernel})
  # A form may include the usual one.
  cmake_path(GET kernel PARENT_PATH parent)
  set(usual ${parent}/kernel.cu)
  if(NOT EXISTS ${usual})
    set(usual "")
  endif()
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${HEDDLE_CLANG} ${options} ${ARGN} ${target_${bits}} -Wall -Wextra -Werror
            -fdebug-prefix-map=${PROJECT_SOURCE_DIR}=. -fdebug-prefix-map=./=
            -Icuda/include -iquote . -include heddle/cuda.h ${source}
            -o ${output}
    DEPENDS ${kernel} ${usual} ${shared} ${headers} ${options_file}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    COMMENT "Compiling kernel ${source} for ${bits}-bit addresses"
    VERBATIM)
endfunction()

function(heddle_kernels)
  set(options_file ${PROJECT_SOURCE_DIR}/cuda/compiler/clang_options.txt)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cuda/include/*.h
       ${PROJECT_SOURCE_DIR}/cuda/include/runtime/cuda/*)
  file(GLOB kernels CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/workloads/*/*.cu)
  file(GLOB shared CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/workloads/*.h ${PROJECT_SOURCE_DIR}/workloads/*/*.inc)
  set(folder ${PROJECT_BINARY_DIR}/kernels)
  if(HEDDLE_KERNELS)
    set(folder ${HEDDLE_KERNELS})
  endif()
  file(MAKE_DIRECTORY ${folder})
  set(names "")
  set(outputs "")
  foreach(kernel IN LISTS kernels)
    cmake_path(GET kernel PARENT_PATH parent)
    cmake_path(GET parent FILENAME workload)
    cmake_path(GET kernel STEM form)
    if(NOT form STREQUAL "kernel")
      string(APPEND workload "-${form}")
    endif()
    set(form_options "")
    if(form STREQUAL "pthreads")
      # As x86 code, which reaches several arrays by one index: no pointer of its own for each in the few registers.
      set(form_options -mllvm -disable-lsr)
    endif()
    foreach(bits IN ITEMS 32 64)
      set(name ${workload}.${bits})
      if(NOT HEDDLE_KERNELS)
        heddle_kernel(${kernel} ${bits} ${folder}/${name}.ptx ${form_options})
      endif()
      list(APPEND names ${name})
      list(APPEND outputs ${folder}/${name}.ptx)
    endforeach()
  endforeach()
  list(JOIN names "," joined)
  set(scripts ${PROJECT_SOURCE_DIR}/cmake)
  set(embedded ${PROJECT_BINARY_DIR}/generated/embedded_kernels.cpp)
  add_custom_command(
    OUTPUT ${embedded}
    COMMAND ${CMAKE_COMMAND} -DKERNELS=${folder} -DNAMES=${joined} -DSOURCES=${PROJECT_SOURCE_DIR}
            -DOUTPUT=${embedded} -P ${scripts}/HeddleEmbedKernels.cmake
    DEPENDS ${outputs} ${kernels} ${shared} ${scripts}/HeddleEmbedKernels.cmake ${scripts}/HeddleEmbedText.cmake
    COMMENT "Embedding kernels"
    VERBATIM)
  target_sources(heddle_workloads PRIVATE ${embedded})
  set(embedded ${PROJECT_BINARY_DIR}/generated/embedded_cuda.cpp)
  add_custom_command(
    OUTPUT ${embedded}
    COMMAND ${CMAKE_COMMAND} -DHEADERS=${PROJECT_SOURCE_DIR}/cuda/include -DOPTIONS=${options_file}
            -DOUTPUT=${embedded} -P ${scripts}/HeddleEmbedCuda.cmake
    DEPENDS ${headers} ${options_file} ${scripts}/HeddleEmbedCuda.cmake ${scripts}/HeddleEmbedText.cmake
    COMMENT "Embedding device headers"
    VERBATIM)
  target_sources(heddle_compiler PRIVATE ${embedded})
endfunction()
