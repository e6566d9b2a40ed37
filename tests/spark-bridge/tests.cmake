plumb_test(test_samples SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_samples.c LINK plumb_spark plumb_model plumb_base)
