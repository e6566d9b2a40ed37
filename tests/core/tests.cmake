set(CORE_HELP ${CMAKE_CURRENT_LIST_DIR}/tables.c)
foreach(name order bigroots baselines judge operations)
    plumb_test(test_core_${name}
        SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_${name}.c ${CORE_HELP}
        LINK plumb_diagnosis plumb_base m)
endforeach()
plumb_test(test_core_hdfs_facts
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_hdfs_facts.c
    LINK plumb_diagnosis plumb_calltree_stats plumb_calltree_record plumb_calltree plumb_model plumb_base)
