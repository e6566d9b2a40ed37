add_library(query_fixture STATIC ${PROJECT_SOURCE_DIR}/tests/query/fixture.c ${PROJECT_SOURCE_DIR}/tests/query/sample.c)
target_link_libraries(query_fixture PUBLIC plumb_query PkgConfig::JANSSON)
plumb_test(test_query SOURCES ${PROJECT_SOURCE_DIR}/tests/query/test_query.c LINK query_fixture)
plumb_test(test_query_params SOURCES ${PROJECT_SOURCE_DIR}/tests/query/test_params.c LINK query_fixture)
plumb_test(test_pack SOURCES ${PROJECT_SOURCE_DIR}/tests/query/test_pack.c LINK query_fixture)
plumb_test(test_export SOURCES ${PROJECT_SOURCE_DIR}/tests/query/test_export.c LINK query_fixture)
plumb_test(test_query_threads SOURCES ${PROJECT_SOURCE_DIR}/tests/query/test_query_threads.c LINK query_fixture)
# GLib's own allocator hands memory from thread to thread unseen by the thread sanitizer.
set_tests_properties(test_query_threads PROPERTIES ENVIRONMENT G_SLICE=always-malloc)
