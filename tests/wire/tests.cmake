set(wire_tests ${PROJECT_SOURCE_DIR}/tests/wire)
plumb_test(test_span_json SOURCES ${wire_tests}/test_span_json.c ${wire_tests}/batches.c LINK plumb_wire)
