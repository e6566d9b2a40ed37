plumb_test(test_load_plan SOURCES load/test_plan.c LINK plumb_load_plan plumb_base m)
plumb_test(test_load_plan_read SOURCES load/test_plan_read.c LINK plumb_load_plan plumb_base)
plumb_test(test_load_results SOURCES load/test_results.c load/records.c LINK plumb_load_results plumb_load_plan
    plumb_base PkgConfig::JANSSON PkgConfig::ZLIB m)
plumb_test(test_load_find SOURCES load/test_find.c load/records.c LINK plumb_load_results plumb_load_plan
    plumb_base PkgConfig::JANSSON PkgConfig::ZLIB m)
plumb_test(test_load_audit SOURCES load/test_audit.c LINK plumb_load_plan plumb_base)
