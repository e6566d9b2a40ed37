# plumb_module(NAME SOURCES ... MAY_USE modules... LIBRARIES external targets...)
#
# One static library per folder of docs/ARCHITECTURE.md. MAY_USE names the modules whose headers its sources may include;
# tests/style/test_includes.py holds the sources against the same lists, read from these calls.
function(plumb_module name)
    cmake_parse_arguments(ARG "" "" "SOURCES;MAY_USE;LIBRARIES" ${ARGN})
    add_library(${name} STATIC ${ARG_SOURCES})
    target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
    target_link_libraries(${name} PUBLIC ${ARG_MAY_USE} PRIVATE ${ARG_LIBRARIES} PUBLIC PkgConfig::GLIB Threads::Threads)
endfunction()

# plumb_test(NAME SOURCES ... LINK modules...): a GLib test program, run by ctest.
function(plumb_test name)
    cmake_parse_arguments(ARG "" "" "SOURCES;LINK;LABELS" ${ARGN})
    add_executable(${name} ${ARG_SOURCES})
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
    target_link_libraries(${name} PRIVATE ${ARG_LINK} PkgConfig::GLIB Threads::Threads)
    target_compile_definitions(${name} PRIVATE TEST_DATA_DIR="${PROJECT_SOURCE_DIR}/tests/data")
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES TIMEOUT 600 LABELS "${ARG_LABELS}")
endfunction()
