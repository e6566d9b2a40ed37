# plumb: everything but main.c is plumb_cli, which the tests link too.
plumb_module(plumb_cli
    SOURCES
        analysis.c
        cli.c
        cmd_apps.c
        cmd_diff.c
        cmd_export.c
        cmd_forest.c
        cmd_functions.c
        cmd_hosts.c
        cmd_import.c
        cmd_operations.c
        cmd_stages.c
        cmd_status.c
        cmd_stragglers.c
        cmd_tasks.c
        cmd_trace.c
        cmd_traces.c
        cmd_verify.c
        cmd_watch.c cmd_why.c
        follow.c
        importer.c
        input.c
        log_import.c
        options.c
        out_file.c
        source.c
        source_http.c
        source_store.c
        out/field.c
        out/measure.c
        out/progress.c
        out/show.c
        out/show_chrome.c
        out/show_diff.c
        out/show_dot.c
        out/show_forest.c
        out/show_functions.c
        out/show_hosts.c
        out/show_import.c
        out/show_operations.c
        out/show_senders.c
        out/show_spark.c
        out/show_status.c
        out/show_stragglers.c
        out/show_trace.c
        out/show_traces.c
        out/show_verify.c
        out/show_why.c
        out/style.c
        out/table.c
        out/text.c
        out/tree_lines.c
        out/units.c
    MAY_USE plumb_base plumb_model plumb_wire plumb_store plumb_calltree plumb_archive plumb_query plumb_spark
    LIBRARIES PkgConfig::CURL PkgConfig::JANSSON PkgConfig::ZLIB PkgConfig::ZSTD m)
target_compile_definitions(plumb_cli PRIVATE PLUMB_VERSION="${PROJECT_VERSION}")

add_executable(plumb main.c)
target_link_libraries(plumb PRIVATE plumb_cli)
