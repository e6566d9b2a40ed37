plumb_test(test_samples SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_samples.c LINK plumb_bridge plumb_model plumb_base)
foreach(name operation_log splits)
    plumb_test(test_spark_${name} SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_${name}.c LINK plumb_bridge plumb_model plumb_base)
endforeach()
foreach(part unpack line_reader)
    plumb_test(test_${part} SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_${part}.c ${CMAKE_CURRENT_LIST_DIR}/packed.c
        LINK plumb_bridge PkgConfig::ZSTD PkgConfig::LZ4 PkgConfig::SNAPPY PkgConfig::LZF PkgConfig::XXHASH)
endforeach()
foreach(part bridge events event_logs positions task_line)
    plumb_test(test_${part} SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_${part}.c ${CMAKE_CURRENT_LIST_DIR}/folder.c
        LINK plumb_bridge)
endforeach()
