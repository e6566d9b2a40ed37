add_executable(bench_intake ${CMAKE_CURRENT_LIST_DIR}/bench_intake.c)
target_include_directories(bench_intake PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(bench_intake PRIVATE plumbd_core plumb_archive_verify plumb_archive_spark plumb_archive plumb_wire_json plumb_wire plumb_store PkgConfig::GLIB)
