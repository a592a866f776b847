# heddle_page(): puts the scripts and styles of studies/pages/page and the charting library Vega into the library of pages
# (studies/pages/page/page_files.hpp), so that every page that the program writes is complete in itself.
find_path(HEDDLE_VEGA vega-view.min.js
          PATHS /usr/share/javascript/vega
          DOC "Folder with Vega's packages vega-*.min.js (Debian package: libjs-vega)")

function(heddle_page)
  if(NOT HEDDLE_VEGA)
    message(FATAL_ERROR "Vega is needed for the charts of reports: install Debian's package libjs-vega, "
                        "or set HEDDLE_VEGA to the folder that holds its vega-*.min.js")
  endif()
  set(folder ${PROJECT_SOURCE_DIR}/studies/pages/page)
  file(GLOB files CONFIGURE_DEPENDS ${folder}/*.js ${folder}/*.css)
  set(embedded ${PROJECT_BINARY_DIR}/generated/embedded_page.cpp)
  set(script ${PROJECT_SOURCE_DIR}/cmake/HeddleEmbedPage.cmake)
  add_custom_command(
    OUTPUT ${embedded}
    COMMAND ${CMAKE_COMMAND} -DPAGE=${folder} -DVEGA=${HEDDLE_VEGA} -DOUTPUT=${embedded} -P ${script}
    DEPENDS ${files} ${HEDDLE_VEGA}/vega-view.min.js ${script} ${PROJECT_SOURCE_DIR}/cmake/HeddleEmbedText.cmake
    COMMENT "Embedding page files"
    VERBATIM)
  target_sources(heddle_pages PRIVATE ${embedded})
endfunction()
