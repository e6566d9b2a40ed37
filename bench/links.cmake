add_executable(bench_links ${CMAKE_CURRENT_LIST_DIR}/bench_links.c)
target_include_directories(bench_links PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(bench_links PRIVATE plumb_query plumb_archive_verify plumb_archive_spark plumb_archive plumb_store PkgConfig::GLIB)
