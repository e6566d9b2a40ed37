set(receiver_tests ${PROJECT_SOURCE_DIR}/tests/receiver)
foreach(name advice arena audit errands http_jobs http_request http_route journal memory mailbox name_owners name_quota quota idle_rule senders sessions shares tally spill_space store_watch strangers daemon)
    plumb_test(test_receiver_${name} SOURCES ${receiver_tests}/test_${name}.c LINK plumbd_core LABELS threads)
endforeach()
foreach(name open_traces spill)
    plumb_test(test_receiver_${name} SOURCES ${receiver_tests}/test_${name}.c ${receiver_tests}/unnamed.c
        LINK plumbd_core LABELS threads)
endforeach()
foreach(name intake kafka shard)
    plumb_test(test_receiver_${name} SOURCES ${receiver_tests}/test_${name}.c ${receiver_tests}/fixture.c
        ${receiver_tests}/unnamed.c LINK plumbd_core LABELS threads)
endforeach()
plumb_test(test_receiver_records
    SOURCES ${receiver_tests}/test_records.c ${receiver_tests}/fixture.c ${PROJECT_SOURCE_DIR}/tests/model/records_random.c
    LINK plumbd_core LABELS threads)
plumb_test(test_receiver_transport SOURCES ${receiver_tests}/test_transport.c LINK plumbd_core PkgConfig::OPENSSL)
# Files that fail: its functions stand before the C library's.
plumb_test(test_receiver_journal_faults SOURCES ${receiver_tests}/test_journal_faults.c ${fault_layer}
    LINK plumbd_core ${CMAKE_DL_LIBS})
set_target_properties(test_receiver_journal_faults PROPERTIES ENABLE_EXPORTS ON)
# For tests/receiver/test_faults.py, which preloads it into plumbd.
add_library(fault_files MODULE ${fault_layer})
target_include_directories(fault_files PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(fault_files PRIVATE PkgConfig::GLIB ${CMAKE_DL_LIBS})
