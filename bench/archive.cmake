add_executable(bench_archive ${CMAKE_CURRENT_LIST_DIR}/bench_archive.c ${CMAKE_CURRENT_LIST_DIR}/generate.c)
target_include_directories(bench_archive PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(bench_archive PRIVATE plumb_archive plumb_wire plumb_store PkgConfig::GLIB m)
