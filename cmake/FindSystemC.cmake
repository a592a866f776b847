# SystemC::systemc: Debian's libsystemc is a C++17 build; SC_CPLUSPLUS tells the headers so in every C++20 file.
find_path(SystemC_INCLUDE_DIR systemc PATH_SUFFIXES systemc)
find_library(SystemC_LIBRARY systemc)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SystemC REQUIRED_VARS SystemC_LIBRARY SystemC_INCLUDE_DIR)
if(SystemC_FOUND AND NOT TARGET SystemC::systemc)
  add_library(SystemC::systemc UNKNOWN IMPORTED)
  set_target_properties(SystemC::systemc PROPERTIES
    IMPORTED_LOCATION ${SystemC_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${SystemC_INCLUDE_DIR}
    INTERFACE_COMPILE_DEFINITIONS "SC_CPLUSPLUS=201703L;SC_INCLUDE_DYNAMIC_PROCESSES")
endif()
