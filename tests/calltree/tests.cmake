set(CALLTREE_HELP ${CMAKE_CURRENT_LIST_DIR}/world.c ${CMAKE_CURRENT_LIST_DIR}/forest.c)
plumb_test(test_calltree_forests
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_forests.c ${CMAKE_CURRENT_LIST_DIR}/reference.c
        ${CMAKE_CURRENT_LIST_DIR}/reference_tree.c ${CMAKE_CURRENT_LIST_DIR}/reference_pattern.c
        ${CMAKE_CURRENT_LIST_DIR}/reference_arrivals.c ${CALLTREE_HELP}
    LINK plumb_calltree_stats plumb_calltree_record plumb_calltree plumb_model plumb_base)
plumb_test(test_calltree_dist
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_dist.c ${CALLTREE_HELP}
    LINK plumb_calltree_stats plumb_calltree_record plumb_calltree plumb_model plumb_base m)
plumb_test(test_calltree_tree SECONDS 5
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_tree.c ${CALLTREE_HELP}
    LINK plumb_calltree_stats plumb_calltree_record plumb_calltree plumb_model plumb_base)
plumb_test(test_calltree_pattern
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_pattern.c ${CALLTREE_HELP}
    LINK plumb_calltree_stats plumb_calltree_record plumb_calltree plumb_model plumb_base)
plumb_test(test_calltree_stats
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_stats.c ${CALLTREE_HELP}
    LINK plumb_calltree_stats plumb_calltree_record plumb_calltree plumb_model plumb_base)
plumb_test(test_calltree_record
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_record.c ${CALLTREE_HELP}
    LINK plumb_calltree_stats plumb_calltree_record plumb_calltree plumb_model plumb_base)
plumb_test(test_calltree_tree_again
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_tree_again.c ${CALLTREE_HELP}
    LINK plumb_calltree_stats plumb_calltree_record plumb_calltree plumb_model plumb_base)
plumb_test(test_calltree_figures
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_figures.c
    LINK plumb_calltree_stats plumb_calltree plumb_model plumb_base m)
plumb_test(test_calltree_waits
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_waits.c ${CMAKE_CURRENT_LIST_DIR}/simulated.c ${CALLTREE_HELP}
    LINK plumb_calltree plumb_model plumb_base)
plumb_test(test_calltree_pipelines
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_pipelines.c ${CMAKE_CURRENT_LIST_DIR}/simulated.c ${CALLTREE_HELP}
    LINK plumb_calltree plumb_model plumb_base)
