# A folder laid out like CUDA's toolkit, for makefiles that are given one (CUDA_PATH, CUDA_HOME, CUDA_DIR): `heddle toolkit`
# prints where it is. In the build it is ${PROJECT_BINARY_DIR}/toolkit, an installation has it beside the run-time library's
# other names. It holds links, so that it always has what Heddle itself has.

# heddle_toolkit(FOLDER PROGRAM HEADERS LIBRARIES): makes FOLDER; the others are paths relative to it.
function(heddle_toolkit folder program headers libraries)
  file(MAKE_DIRECTORY ${folder}/bin)
  file(WRITE ${folder}/bin/nvcc "#!/bin/sh\nexec \"$(dirname \"$(readlink -f \"$0\")\")/../${program}\" nvcc \"$@\"\n")
  file(CHMOD ${folder}/bin/nvcc PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
                                            WORLD_EXECUTE)
  file(WRITE ${folder}/version.json "{\"cuda\": {\"name\": \"CUDA programs on Heddle\", \"version\": \"11.5.0\"}}\n")
  file(CREATE_LINK ${headers} ${folder}/include SYMBOLIC)
  file(CREATE_LINK ${libraries} ${folder}/lib64 SYMBOLIC)
  file(CREATE_LINK lib64 ${folder}/lib SYMBOLIC)
endfunction()

# heddle_link_names(FOLDER): the names by which programs are linked, in the folder of the names by which they start, one
# below the folder of the run-time library. -lcudart_static is the shared library too, and -lcudadevrt has nothing to add.
function(heddle_link_names folder)
  file(MAKE_DIRECTORY ${folder}/stubs)
  foreach(name IN ITEMS libheddle_cudart.so libcudart.so libcuda.so)
    file(CREATE_LINK ../libheddle_cudart.so ${folder}/${name} SYMBOLIC)
  endforeach()
  file(CREATE_LINK ../libcuda.so ${folder}/stubs/libcuda.so SYMBOLIC)
  file(WRITE ${folder}/libcudart_static.a "INPUT(-lheddle_cudart)\n")
  foreach(library IN ITEMS cublas=heddle_cublas cublas=cublas cublas=cublasLt curand=heddle_curand curand=curand)
    string(REPLACE "=" ";" library ${library})
    list(GET library 0 target)
    list(GET library 1 name)
    file(CREATE_LINK ../libheddle_${target}.so ${folder}/lib${name}.so SYMBOLIC)
    if(NOT name MATCHES "^heddle_")
      file(WRITE ${folder}/lib${name}_static.a "INPUT(-lheddle_${target})\n")
    endif()
  endforeach()
  foreach(name IN ITEMS libcudadevrt.a libculibos.a)
    file(WRITE ${folder}/${name} "!<arch>\n")
  endforeach()
endfunction()

file(RELATIVE_PATH headers ${PROJECT_BINARY_DIR}/toolkit ${PROJECT_SOURCE_DIR}/cuda/include/runtime)
heddle_toolkit(${PROJECT_BINARY_DIR}/toolkit ../heddle ${headers} ../cudart)
heddle_link_names(${PROJECT_BINARY_DIR}/cudart)

set(installed ${PROJECT_BINARY_DIR}/CMakeFiles/toolkit)
set(place ${CMAKE_INSTALL_FULL_LIBDIR}/heddle/toolkit)
file(RELATIVE_PATH program ${place} ${CMAKE_INSTALL_FULL_BINDIR}/heddle)
file(RELATIVE_PATH headers ${place} ${CMAKE_INSTALL_FULL_DATADIR}/heddle/cuda/runtime)
heddle_toolkit(${installed}/toolkit ${program} ${headers} ..)
heddle_link_names(${installed})
install(DIRECTORY ${installed}/ DESTINATION ${CMAKE_INSTALL_LIBDIR}/heddle USE_SOURCE_PERMISSIONS)
