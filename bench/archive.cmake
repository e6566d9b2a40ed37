add_executable(bench_archive ${CMAKE_CURRENT_LIST_DIR}/bench_archive.c ${CMAKE_CURRENT_LIST_DIR}/generate.c
    ${CMAKE_CURRENT_LIST_DIR}/model_file.c)
target_include_directories(bench_archive PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(bench_archive PRIVATE plumb_pack plumb_archive_consolidation plumb_archive_verify plumb_archive_spark plumb_archive plumb_wire_json plumb_wire plumb_store PkgConfig::GLIB m)
add_executable(bench_stats ${CMAKE_CURRENT_LIST_DIR}/bench_stats.c ${CMAKE_CURRENT_LIST_DIR}/generate.c
    ${CMAKE_CURRENT_LIST_DIR}/model_file.c)
target_include_directories(bench_stats PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(bench_stats PRIVATE plumb_pack plumb_archive_verify plumb_archive_spark plumb_archive plumb_wire_json plumb_wire plumb_store PkgConfig::GLIB m)
add_executable(bench_spark bench_spark.c)
target_link_libraries(bench_spark PRIVATE plumb_pack plumb_archive_verify plumb_archive_spark plumb_archive PkgConfig::GLIB)
target_include_directories(bench_spark PRIVATE ${PROJECT_SOURCE_DIR})
