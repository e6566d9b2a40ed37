set(store_tests ${PROJECT_SOURCE_DIR}/tests/store)
plumb_test(test_store SOURCES ${store_tests}/test_store.c ${store_tests}/fixture.c LINK plumb_store LABELS threads)
plumb_test(test_dict SOURCES ${store_tests}/test_dict.c ${store_tests}/fixture.c LINK plumb_store LABELS threads)
