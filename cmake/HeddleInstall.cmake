# `cmake --install build/release --prefix DIR`: the program, the libraries with their headers, the machines, and a CMake
# package that find_package(heddle) finds.
include(CMakePackageConfigHelpers)

install(TARGETS heddle_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY configs DESTINATION ${CMAKE_INSTALL_DATADIR}/heddle FILES_MATCHING PATTERN "*.toml")
install(DIRECTORY explorations DESTINATION ${CMAKE_INSTALL_DATADIR}/heddle FILES_MATCHING PATTERN "*.toml")
install(DIRECTORY cuda/include/heddle cuda/include/runtime DESTINATION ${CMAKE_INSTALL_DATADIR}/heddle/cuda)

# What pip takes: pip install PREFIX/share/heddle/python.
install(DIRECTORY python DESTINATION ${CMAKE_INSTALL_DATADIR}/heddle
        FILES_MATCHING PATTERN "*.py" PATTERN "*.md" PATTERN "*.toml" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
file(WRITE ${PROJECT_BINARY_DIR}/python/VERSION "${PROJECT_VERSION}\n")
install(FILES ${PROJECT_BINARY_DIR}/python/VERSION DESTINATION ${CMAKE_INSTALL_DATADIR}/heddle/python)

install(FILES cmake/HeddleToolchain.cmake DESTINATION ${CMAKE_INSTALL_DATADIR}/heddle/cuda)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/heddle)
install(EXPORT heddleTargets NAMESPACE heddle:: DESTINATION ${package_folder})
file(WRITE ${PROJECT_BINARY_DIR}/heddleConfig.cmake [=[
include(CMakeFindDependencyMacro)
list(PREPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})
find_dependency(fmt)
find_dependency(tomlplusplus)
find_dependency(boost_json 1.81)
find_dependency(SystemC)
find_dependency(Threads)
find_dependency(SQLite3)
find_dependency(ZLIB)
list(POP_FRONT CMAKE_MODULE_PATH)
include(${CMAKE_CURRENT_LIST_DIR}/heddleTargets.cmake)
]=])
write_basic_package_version_file(${PROJECT_BINARY_DIR}/heddleConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/heddleConfig.cmake ${PROJECT_BINARY_DIR}/heddleConfigVersion.cmake
              cmake/FindSystemC.cmake
        DESTINATION ${package_folder})
