#include "analyzer/cli/source/source_kinds.h"
#include "common/base/error.h"

static void test_addresses(void) {
    static const struct {
        const char *server, *base; /* NULL: refused */
        gboolean secure;
    } cases[] = {
        {"127.0.0.1:9096", "http://127.0.0.1:9096", FALSE},
        {"nn1", "http://nn1:9096", FALSE},
        {"nn1:80", "http://nn1:80", FALSE},
        {"http://nn1:80/", "http://nn1:80", FALSE},
        {"[::1]:80", "http://[::1]:80", FALSE},
        {"[::1]", "http://[::1]:9096", FALSE},
        {"", NULL, FALSE},
        {":80", NULL, FALSE},
        {"nn1:", NULL, FALSE},
        {"nn1:http", NULL, FALSE},
        {"nn1:0", NULL, FALSE},
        {"nn1:65536", NULL, FALSE},
        {"nn1:80/path", NULL, FALSE},
        {"https://nn1", "https://nn1:9096", FALSE},
        {"nn1:80", "https://nn1:80", TRUE},
        {"http://nn1:80/", "https://nn1:80", TRUE},
        {"ftp://nn1", NULL, FALSE},
        {"user@nn1", NULL, FALSE},
        {"::1", NULL, FALSE},
        {"n n:80", NULL, FALSE},
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *base = source_http_base(cases[i].server, cases[i].secure, &error);
        g_assert_cmpstr(base, ==, cases[i].base);
        if (cases[i].base == NULL) g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_CONFIG);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/server_address/forms", test_addresses);
    return g_test_run();
}
