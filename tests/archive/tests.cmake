set(archive_tests ${PROJECT_SOURCE_DIR}/tests/archive)
add_library(test_archive_fixture STATIC ${archive_tests}/fixture.c ${archive_tests}/case.c ${archive_tests}/traces.c)
target_link_libraries(test_archive_fixture PUBLIC plumb_archive_verify plumb_archive_spark plumb_archive_consolidation
    plumb_archive_retention plumb_archive)
plumb_test(test_archive_random SECONDS 10 SOURCES ${archive_tests}/test_random.c LINK test_archive_fixture plumb_archive_verify plumb_archive_spark plumb_archive)
plumb_test(test_archive SOURCES ${archive_tests}/test_archive.c LINK test_archive_fixture plumb_archive_verify plumb_archive_spark plumb_archive)
# Disks that fill up on demand: the test stands between the archive and these functions.
target_link_options(test_archive PRIVATE -Wl,--wrap=store_write -Wl,--wrap=dict_intern)
plumb_test(test_archive_late SOURCES ${archive_tests}/test_late.c LINK test_archive_fixture plumb_archive_verify plumb_archive_spark plumb_archive)
target_link_options(test_archive_late PRIVATE -Wl,--wrap=store_write)
plumb_test(test_archive_conflicts SOURCES ${archive_tests}/test_conflicts.c LINK test_archive_fixture plumb_archive_verify plumb_archive_spark plumb_archive)
plumb_test(test_archive_verify SOURCES ${archive_tests}/test_verify.c LINK test_archive_fixture plumb_archive_verify plumb_archive_spark plumb_archive)
plumb_test(test_archive_threads SOURCES ${archive_tests}/test_threads.c LINK test_archive_fixture plumb_archive_verify plumb_archive_spark plumb_archive)
# Blocks that GLib's slices pass from thread to thread look like races to ThreadSanitizer.
set_tests_properties(test_archive_threads PROPERTIES ENVIRONMENT G_SLICE=always-malloc)

plumb_test(test_archive_search SOURCES ${archive_tests}/test_search.c LINK test_archive_fixture plumb_archive_verify plumb_archive_spark plumb_archive)
plumb_test(test_archive_known SOURCES ${archive_tests}/test_known.c LINK test_archive_fixture plumb_archive_verify plumb_archive_spark plumb_archive)
target_link_options(test_archive_known PRIVATE -Wl,--wrap=store_get)
plumb_test(test_archive_parts SOURCES ${archive_tests}/test_parts.c LINK test_archive_fixture plumb_archive_verify plumb_archive_spark plumb_archive)
plumb_test(test_archive_rare SOURCES ${archive_tests}/test_rare.c LINK test_archive_fixture plumb_archive_verify plumb_archive_spark plumb_archive)
plumb_test(test_archive_keep SOURCES ${archive_tests}/test_keep.c LINK test_archive_fixture plumb_archive_verify plumb_archive_spark plumb_archive)
plumb_test(test_archive_expire SECONDS 6 SOURCES ${archive_tests}/test_expire.c LINK test_archive_fixture plumb_archive_verify plumb_archive_spark plumb_archive)
plumb_test(test_archive_thin SOURCES ${archive_tests}/test_thin.c LINK test_archive_fixture plumb_archive_verify plumb_archive_spark plumb_archive)
plumb_test(test_archive_rules SOURCES ${archive_tests}/test_rules.c LINK test_archive_fixture plumb_archive_verify plumb_archive_spark plumb_archive)
plumb_test(test_archive_account SOURCES ${archive_tests}/test_account.c LINK plumb_archive_verify plumb_archive_spark plumb_archive)
plumb_test(test_archive_spark SOURCES ${archive_tests}/test_spark.c ${PROJECT_SOURCE_DIR}/tests/model/records_random.c
    LINK test_archive_fixture plumb_archive_verify plumb_archive_spark plumb_archive)
