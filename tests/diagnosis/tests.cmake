set(DIAGNOSIS_HELP ${CMAKE_CURRENT_LIST_DIR}/tables.c)
foreach(name order bigroots baselines accuracy operations)
    plumb_test(test_diagnosis_${name}
        SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_${name}.c ${DIAGNOSIS_HELP}
        LINK plumb_diagnosis plumb_base m)
endforeach()
plumb_test(test_diagnosis_hdfs_facts
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_hdfs_facts.c
    LINK plumb_diagnosis plumb_calltree_stats plumb_calltree_record plumb_calltree plumb_model plumb_base)
plumb_test(test_diagnosis_nodes
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_nodes.c ${CMAKE_CURRENT_LIST_DIR}/cluster.c
    LINK plumb_diagnosis_nodes plumb_diagnosis plumb_model plumb_base m)
plumb_test(test_diagnosis_failing
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_failing.c
    LINK plumb_diagnosis_nodes plumb_diagnosis plumb_model plumb_base m)
plumb_test(test_diagnosis_ends
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_ends.c
    LINK plumb_diagnosis_ends plumb_diagnosis plumb_base m)
plumb_test(test_diagnosis_links
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_links.c
    LINK plumb_diagnosis_nodes plumb_diagnosis plumb_model plumb_base m)
foreach(name advise advise_given advise_skew drelephant simulation)
    plumb_test(test_diagnosis_${name}
        SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_${name}.c ${CMAKE_CURRENT_LIST_DIR}/made_facts.c
        LINK plumb_diagnosis_advise plumb_diagnosis plumb_model plumb_base m)
endforeach()
plumb_test(test_diagnosis_ledger
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_ledger.c ${DIAGNOSIS_HELP}
    LINK plumb_diagnosis_ledger plumb_diagnosis plumb_base m)
