plumb_test(test_config SOURCES ${PROJECT_SOURCE_DIR}/tests/base/test_config.c LINK plumb_base)
plumb_test(test_base SOURCES ${PROJECT_SOURCE_DIR}/tests/base/test_base.c LINK plumb_base)
plumb_test(test_mapped SOURCES ${PROJECT_SOURCE_DIR}/tests/base/test_mapped.c LINK plumb_base)
plumb_test(test_harmless SOURCES ${PROJECT_SOURCE_DIR}/tests/base/test_harmless.c LINK plumb_base)
