#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/cli/commands/analysis.h"
#include "common/base/error.h"

static Analysis *load_text(const char *text, GError **error) {
    g_autofree char *path = NULL;
    close(g_file_open_tmp("plumb-analysis-XXXXXX", &path, NULL));
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
    Analysis *analysis = analysis_load(path, error);
    g_remove(path);
    return analysis;
}

static void test_sample(void) {
    g_autoptr(GError) error = NULL;
    g_autoptr(Analysis) analysis = analysis_load(SOURCE_FOLDER "/conf/analysis.conf", &error);
    g_assert_no_error(error);
    g_assert_cmpstr(analysis->level, ==, "forest");
    g_assert_true(g_strv_equal((const char *const *)analysis->exclude, analysis_default_excludes));
    g_assert_cmpint(analysis->colours[ROLE_NAMENODE], ==, COLOUR_GREEN);
    g_assert_cmpint(analysis->colours[ROLE_DATANODE], ==, COLOUR_BLUE);
    g_assert_cmpint(analysis->colours[ROLE_CLIENT], ==, COLOUR_WHITE);
    g_assert_cmpint(analysis->colours[ROLE_LOCAL], ==, COLOUR_YELLOW);
    g_assert_true(analysis->progress);
}

static void test_values(void) {
    g_autoptr(GError) error = NULL;
    g_autoptr(Analysis) analysis =
        load_text("[analysis]\nlevel=tree\nexclude=a;default;b\nroles=client;datanode\nprogress=no\n"
                  "[colors]\nclient=magenta\nlocal=none\n[functions]\ndatanode=x;y\n",
                  &error);
    g_assert_no_error(error);

    g_assert_cmpstr(analysis->level, ==, "tree");
    g_autofree char *excluded = g_strjoinv(" ", analysis->exclude);
    g_assert_cmpstr(excluded, ==, "a OpWriteBlockProto dataStreamer waitForAckedSeqno b");
    g_assert_cmpstr(analysis->roles, ==, "client,datanode");
    g_assert_false(analysis->progress);
    g_assert_cmpint(analysis->colours[ROLE_CLIENT], ==, COLOUR_MAGENTA);
    g_assert_cmpint(analysis->colours[ROLE_LOCAL], ==, COLOUR_NONE);

    json_t *forest = json_loads("{\"patterns\":[{\"nodes\":[{\"function\":\"x\",\"role\":\"local\"},"
                                "{\"function\":\"z\",\"role\":\"local\"}]}]}",
                                0, NULL);
    analysis_apply_roles(analysis, forest);

    g_autofree char *after = json_dumps(forest, JSON_COMPACT);
    g_assert_cmpstr(after, ==,
                    "{\"patterns\":[{\"nodes\":[{\"function\":\"x\",\"role\":\"datanode\"},"
                    "{\"function\":\"z\",\"role\":\"local\"}]}]}");
    json_decref(forest);
}

static void test_mistakes(void) {
    static const struct {
        const char *text, *said;
    } cases[] = {
        {"[analysis]\nlevl=tree\n", "level"}, {"[anlysis]\nlevel=tree\n", "analysis"},
        {"[analysis]\nlevel=wood\n", "wood"}, {"[colors]\nclient=pink\n", "pink"},
        {"[analysis]\nroles=boss\n", "boss"}, {"level=tree\n", ""},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_assert_null(load_text(cases[i].text, &error));
        g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_CONFIG);
        g_assert_nonnull(strstr(error->message, cases[i].said));
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/analysis/sample", test_sample);
    g_test_add_func("/analysis/values", test_values);
    g_test_add_func("/analysis/mistakes", test_mistakes);
    return g_test_run();
}
