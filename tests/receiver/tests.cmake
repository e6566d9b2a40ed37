set(receiver_tests ${PROJECT_SOURCE_DIR}/tests/receiver)
foreach(name arena journal open_traces mailbox senders daemon)
    plumb_test(test_receiver_${name} SOURCES ${receiver_tests}/test_${name}.c LINK plumbd_core LABELS threads)
endforeach()
foreach(name intake shard)
    plumb_test(test_receiver_${name} SOURCES ${receiver_tests}/test_${name}.c ${receiver_tests}/fixture.c
        LINK plumbd_core LABELS threads)
endforeach()
