add_executable(bench_eventlog ${CMAKE_CURRENT_LIST_DIR}/bench_eventlog.c)
target_include_directories(bench_eventlog PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(bench_eventlog PRIVATE plumb_bridge PkgConfig::GLIB)
