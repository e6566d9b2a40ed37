plumb_test(test_span SOURCES ${PROJECT_SOURCE_DIR}/tests/model/test_span.c LINK plumb_model)
plumb_test(test_names SOURCES ${PROJECT_SOURCE_DIR}/tests/model/test_names.c LINK plumb_model)
plumb_test(test_sampling SOURCES ${PROJECT_SOURCE_DIR}/tests/model/test_sampling.c LINK plumb_model)
plumb_test(test_batch SOURCES ${PROJECT_SOURCE_DIR}/tests/model/test_batch.c LINK plumb_model)
