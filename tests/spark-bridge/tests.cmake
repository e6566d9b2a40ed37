plumb_test(test_samples SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_samples.c LINK plumb_spark plumb_model plumb_base)
foreach(name operation_log splits)
    plumb_test(test_spark_${name} SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_${name}.c LINK plumb_spark plumb_model plumb_base)
endforeach()
