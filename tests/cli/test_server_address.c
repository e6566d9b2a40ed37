#include "analyzer/cli/source/source_kinds.h"
#include "common/base/error.h"

static void test_addresses(void) {
    static const struct {
        const char *server, *base; /* NULL: refused */
    } cases[] = {
        {"127.0.0.1:9096", "http://127.0.0.1:9096"},
        {"nn1", "http://nn1:9096"},
        {"nn1:80", "http://nn1:80"},
        {"http://nn1:80/", "http://nn1:80"},
        {"[::1]:80", "http://[::1]:80"},
        {"[::1]", "http://[::1]:9096"},
        {"", NULL},
        {":80", NULL},
        {"nn1:", NULL},
        {"nn1:http", NULL},
        {"nn1:0", NULL},
        {"nn1:65536", NULL},
        {"nn1:80/path", NULL},
        {"https://nn1", NULL},
        {"user@nn1", NULL},
        {"::1", NULL},
        {"n n:80", NULL},
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *base = source_http_base(cases[i].server, &error);
        g_assert_cmpstr(base, ==, cases[i].base);
        if (cases[i].base == NULL) g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_CONFIG);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/server_address/forms", test_addresses);
    return g_test_run();
}
