add_executable(bench_stragglers ${CMAKE_CURRENT_LIST_DIR}/bench_stragglers.c)
target_include_directories(bench_stragglers PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(bench_stragglers PRIVATE plumb_core plumb_base PkgConfig::GLIB m)
