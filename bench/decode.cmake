add_executable(bench_decode ${CMAKE_CURRENT_LIST_DIR}/bench_decode.c)
target_include_directories(bench_decode PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(bench_decode PRIVATE plumb_wire_reference plumb_wire_json PkgConfig::GLIB)
