set(store_tests ${PROJECT_SOURCE_DIR}/tests/store)
plumb_test(test_store SECONDS 8 SOURCES ${store_tests}/test_store.c ${store_tests}/fixture.c LINK plumb_store LABELS threads)
plumb_test(test_dict SOURCES ${store_tests}/test_dict.c ${store_tests}/fixture.c LINK plumb_store LABELS threads)
plumb_test(test_store_rocksdb SECONDS 10 SOURCES ${store_tests}/test_store_rocksdb.c ${store_tests}/fixture.c LINK plumb_store)
target_link_libraries(test_store_rocksdb PRIVATE ${ROCKSDB_LIBRARY})
plumb_test(test_store_damage SECONDS 6 SOURCES ${store_tests}/test_store_damage.c ${store_tests}/fixture.c LINK plumb_store)
plumb_test(test_store_unreadable SECONDS 5 SOURCES ${store_tests}/test_store_unreadable.c ${store_tests}/fixture.c LINK plumb_store)
# Files that fail: its functions stand before the C library's, for RocksDB too.
plumb_test(test_store_faults SECONDS 90 SOURCES ${store_tests}/test_store_faults.c ${store_tests}/fixture.c ${fault_layer}
    LINK plumb_store ${CMAKE_DL_LIBS})
set_target_properties(test_store_faults PROPERTIES ENABLE_EXPORTS ON)
# Hundreds of stores in turn: minutes beside other tests, more with a sanitizer.
set_tests_properties(test_store_faults PROPERTIES TIMEOUT 1800)
