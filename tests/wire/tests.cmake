set(wire_tests ${PROJECT_SOURCE_DIR}/tests/wire)
set(wire_test_labels_client threads) # the receiver it talks to is a thread of the test
foreach(test batch client frame pack plain record_json records reply span_json)
    plumb_test(test_wire_${test} SOURCES ${wire_tests}/test_${test}.c ${wire_tests}/batches.c ${wire_tests}/newer.c ${wire_tests}/packs.c
        ${PROJECT_SOURCE_DIR}/tests/model/records_random.c
        LINK plumb_wire_reference plumb_wire_json PkgConfig::JANSSON LABELS ${wire_test_labels_${test}})
endforeach()
# The reference's c_glib classes leak a little each; with GSlice's own memory the leak checker does not see it.
set_tests_properties(test_wire_batch test_wire_pack test_wire_records test_wire_reply PROPERTIES ENVIRONMENT G_SLICE=)
