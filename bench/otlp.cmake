add_executable(bench_otlp ${CMAKE_CURRENT_LIST_DIR}/bench_otlp.c ${PROJECT_SOURCE_DIR}/tests/wire/otlp_bodies.c)
target_include_directories(bench_otlp PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(bench_otlp PRIVATE plumb_wire_otlp plumb_wire plumb_pack plumb_store PkgConfig::GLIB PkgConfig::ZLIB)
