plumb_test(test_config SOURCES ${PROJECT_SOURCE_DIR}/tests/base/test_config.c LINK plumb_base)
