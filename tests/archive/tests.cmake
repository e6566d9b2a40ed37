set(archive_tests ${PROJECT_SOURCE_DIR}/tests/archive)
add_library(test_archive_fixture STATIC ${archive_tests}/fixture.c ${archive_tests}/traces.c)
target_link_libraries(test_archive_fixture PUBLIC plumb_archive)
plumb_test(test_archive_random SOURCES ${archive_tests}/test_random.c LINK test_archive_fixture plumb_archive)
