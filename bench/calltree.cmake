add_executable(bench_calltree ${CMAKE_CURRENT_LIST_DIR}/bench_calltree.c)
target_include_directories(bench_calltree PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(bench_calltree PRIVATE plumb_calltree plumb_model plumb_base PkgConfig::GLIB)
