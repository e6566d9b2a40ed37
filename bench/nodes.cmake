add_executable(bench_nodes ${CMAKE_CURRENT_LIST_DIR}/bench_nodes.c)
target_include_directories(bench_nodes PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(bench_nodes PRIVATE plumb_query plumb_query_nodes plumb_pack plumb_archive_write plumb_archive plumb_store PkgConfig::GLIB PkgConfig::JANSSON m)
