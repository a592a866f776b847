# A toolchain file for projects with CUDA in them: cmake --toolchain .../HeddleToolchain.cmake. Their CUDA compiler is
# `heddle nvcc`, their programs run on the simulated GPU. HEDDLE_PROGRAM names which heddle, else that beside this file, else
# the one on the PATH. (CMake's own look at the compiler wants nvcc's log of its passes; what it would find is said here.)
set(heddle_hints ${CMAKE_CURRENT_LIST_DIR}/../../../bin ${CMAKE_CURRENT_LIST_DIR}/../build/release)
if(NOT HEDDLE_PROGRAM)
  set(HEDDLE_PROGRAM $ENV{HEDDLE_PROGRAM})
endif()
if(NOT HEDDLE_PROGRAM)
  foreach(folder IN LISTS heddle_hints)
    if(EXISTS ${folder}/heddle AND NOT IS_DIRECTORY ${folder}/heddle)
      get_filename_component(HEDDLE_PROGRAM ${folder}/heddle REALPATH)
    endif()
  endforeach()
endif()
if(NOT HEDDLE_PROGRAM)
  find_program(HEDDLE_PROGRAM heddle REQUIRED)
endif()
set(ENV{HEDDLE_PROGRAM} ${HEDDLE_PROGRAM})  # for the projects by which CMake tries things
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES HEDDLE_PROGRAM)

# A compiler is one program.
set(heddle_nvcc ${CMAKE_BINARY_DIR}/CMakeFiles/heddle-nvcc)
if(NOT CMAKE_CUDA_COMPILER)
  file(WRITE ${heddle_nvcc} "#!/bin/sh\nexec '${HEDDLE_PROGRAM}' nvcc \"$@\"\n")
  file(CHMOD ${heddle_nvcc} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
                                        WORLD_EXECUTE)
  set(CMAKE_CUDA_COMPILER ${heddle_nvcc})
endif()
get_filename_component(heddle_folder ${HEDDLE_PROGRAM} DIRECTORY)
foreach(folder IN ITEMS . ../lib ../lib/x86_64-linux-gnu ../lib64)
  if(EXISTS ${heddle_folder}/${folder}/libheddle_cudart.so)
    get_filename_component(heddle_library_folder ${heddle_folder}/${folder} REALPATH)
  endif()
endforeach()

# find_package(CUDAToolkit) finds the folder that is laid out like one.
foreach(folder IN ITEMS toolkit ../lib/heddle/toolkit ../lib/x86_64-linux-gnu/heddle/toolkit ../lib64/heddle/toolkit)
  if(EXISTS ${heddle_folder}/${folder}/bin/nvcc)
    get_filename_component(CMAKE_CUDA_COMPILER_TOOLKIT_ROOT ${heddle_folder}/${folder} REALPATH)
    set(CMAKE_CUDA_COMPILER_LIBRARY_ROOT ${CMAKE_CUDA_COMPILER_TOOLKIT_ROOT})
    set(CMAKE_CUDA_COMPILER_TOOLKIT_VERSION 11.5.0)
  endif()
endforeach()

set(CMAKE_CUDA_COMPILER_ID_RUN TRUE)
set(CMAKE_CUDA_COMPILER_ID NVIDIA)
set(CMAKE_CUDA_COMPILER_VERSION 11.5.0)
set(CMAKE_CUDA_STANDARD_COMPUTED_DEFAULT 17)
set(CMAKE_CUDA_EXTENSIONS_COMPUTED_DEFAULT ON)
# Programs of C++ and CUDA are linked as C++ by CMake, which then asks for the run-time libraries that nvcc links.
set(heddle_libraries "-L${CMAKE_CUDA_COMPILER_TOOLKIT_ROOT}/lib64 -lcudadevrt -lcudart_static -lrt -lpthread -ldl")
find_program(HEDDLE_HOST_LINKER NAMES c++ g++ clang++ REQUIRED)
set(CMAKE_CUDA_COMPILER_PRODUCED_OUTPUT
    "#$ LIBRARIES=${heddle_libraries}\n\n#$ ${HEDDLE_HOST_LINKER} a.o ${heddle_libraries} -o a\n")
set(CMAKE_CUDA_ARCHITECTURES 60 CACHE STRING "device code is PTX, whatever this says")
set(CMAKE_CUDA_COMPILER_WORKS TRUE)
set(CMAKE_CUDA_ABI_COMPILED TRUE)
set(CMAKE_CUDA_SIZEOF_DATA_PTR 8)
set(CMAKE_CUDA_IMPLICIT_LINK_DIRECTORIES ${CMAKE_CUDA_COMPILER_TOOLKIT_ROOT}/lib64)
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,-rpath,${heddle_library_folder}")  # the host compiler links, as with nvcc
set(CMAKE_SHARED_LINKER_FLAGS_INIT "-Wl,-rpath,${heddle_library_folder}")
