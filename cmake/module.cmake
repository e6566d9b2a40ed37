# plumb_module(NAME SOURCES ... MAY_USE modules... LIBRARIES external targets...)
#
# One static library per folder of docs/ARCHITECTURE.md. MAY_USE names the modules whose headers its files may include; the
# build holds the files to it (check_includes.cmake), and tests/style/test_includes.py holds the document to the build.
function(plumb_module name)
    cmake_parse_arguments(ARG "" "" "SOURCES;MAY_USE;LIBRARIES" ${ARGN})
    add_library(${name} STATIC ${ARG_SOURCES})
    target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
    target_link_libraries(${name} PUBLIC ${ARG_MAY_USE} PRIVATE ${ARG_LIBRARIES} PUBLIC PkgConfig::GLIB Threads::Threads)

    file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
    set_property(TARGET ${name} PROPERTY PLUMB_FOLDER ${folder})
    set_property(GLOBAL APPEND PROPERTY PLUMB_MODULES ${name})
    set(allowed "")
    foreach(module IN LISTS ARG_MAY_USE)
        get_property(used TARGET ${module} PROPERTY PLUMB_FOLDER)
        list(APPEND allowed ${used})
    endforeach()
    file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.h)
    list(TRANSFORM ARG_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ OUTPUT_VARIABLE files)
    list(APPEND files ${headers})
    set(stamp ${CMAKE_CURRENT_BINARY_DIR}/${name}.includes)
    add_custom_command(OUTPUT ${stamp}
        COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DNAME=${name} -DFOLDER=${folder} "-DALLOWED=${allowed}"
            "-DFILES=${files}" -P ${PROJECT_SOURCE_DIR}/cmake/check_includes.cmake
        COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
        DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/check_includes.cmake
        COMMENT "Checking what ${name} includes"
        VERBATIM)
    add_custom_target(${name}_includes DEPENDS ${stamp})
    add_dependencies(${name} ${name}_includes)
endfunction()

# plumb_test(NAME SOURCES ... LINK modules... [LABELS threads] [SECONDS n]): a GLib test program, run by ctest. The label is
# for what the thread sanitizer looks at; seconds, about, of those that take long, which ctest then begins with.
add_custom_target(unit_tests)
add_custom_target(thread_tests)
function(plumb_test name)
    cmake_parse_arguments(ARG "" "SECONDS" "SOURCES;LINK;LABELS" ${ARGN})
    add_executable(${name} ${ARG_SOURCES})
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
    target_link_libraries(${name} PRIVATE ${ARG_LINK} PkgConfig::GLIB Threads::Threads)
    target_compile_definitions(${name} PRIVATE TEST_DATA_DIR="${PROJECT_SOURCE_DIR}/tests/data")
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES TIMEOUT 600 LABELS "${ARG_LABELS}")
    if(ARG_SECONDS)
        set_tests_properties(${name} PROPERTIES COST ${ARG_SECONDS})
    endif()
    add_dependencies(unit_tests ${name})
    if("threads" IN_LIST ARG_LABELS)
        add_dependencies(thread_tests ${name})
    endif()
endfunction()
