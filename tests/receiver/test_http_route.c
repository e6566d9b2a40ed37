/* Which route a path has, how it is asked, and which roles suffice. */
#include "receiver/http/route.h"

static void answer(void *arg, HttpExchange *exchange, const char *rest) { (void)arg, (void)exchange, (void)rest; }

static const Route table[] = {
    {"/a", ACCESS_ANYBODY, FALSE, NULL, AUDIT_NOTHING, answer},
    {"/api/go", ACCESS_ADMIN, TRUE, "use POST", AUDIT_NOTHING, answer},
    {"/api/*", ACCESS_READ, FALSE, "use GET", AUDIT_NOTHING, answer},
    {"/", ACCESS_READ, FALSE, "use GET", AUDIT_NOTHING, answer},
    {"/of/*/all", ACCESS_READ, FALSE, "use GET", AUDIT_NOTHING, answer},
    {0},
};

static void test_find(void) {
    static const struct {
        const char *path;
        int route; /* -1: none */
        const char *rest;
    } cases[] = {
        {"/a", 0, ""},          {"/api/go", 1, ""},    {"/api/gone", 2, "gone"},
        {"/", 3, ""},           {"/api/", -1, NULL},   {"", -1, NULL},
        {"/api/a/b", -1, NULL}, {"/A", -1, NULL},      {"/of/x/all", 4, "x/all"},
        {"/of//all", -1, NULL}, {"/of/all", -1, NULL}, {"/of/x/y/all", -1, NULL},
        {"/of/x/al", -1, NULL}, {"//", -1, NULL},      {"/api/go/", -1, NULL},
        {"/a/", -1, NULL},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        const char *rest = NULL;
        const Route *route = route_find(table, cases[i].path, HTTP_GET, &rest);
        g_assert_true(route == (cases[i].route < 0 ? NULL : &table[cases[i].route]));
        if (route != NULL) g_assert_cmpstr(rest, ==, cases[i].rest);
    }
}

/* One path may be in the table twice, for each way of asking. Another row that it fits does not count. */
static void test_find_asked(void) {
    static const Route both[] = {
        {"/spans", ACCESS_WRITE, TRUE, "use POST", AUDIT_NOTHING, answer},
        {"/*", ACCESS_READ, FALSE, "use GET", AUDIT_NOTHING, answer},
        {"/spans", ACCESS_READ, FALSE, "use GET", AUDIT_NOTHING, answer},
        {"/go", ACCESS_ADMIN, TRUE, "use POST", AUDIT_NOTHING, answer},
        {0},
    };
    const char *rest;
    g_assert_true(route_find(both, "/spans", HTTP_POST, &rest) == &both[0]);
    g_assert_true(route_find(both, "/spans", HTTP_GET, &rest) == &both[2]);
    g_assert_true(route_find(both, "/spans", HTTP_HEAD, &rest) == &both[2]);
    g_assert_true(route_find(table, "/api/go", HTTP_GET, &rest) == &table[1]);
    g_assert_null(route_find(both, "/", HTTP_GET, &rest));
}

static void test_method(void) {
    g_assert_true(route_takes(&table[0], HTTP_POST) && route_takes(&table[0], HTTP_GET));
    g_assert_true(route_takes(&table[1], HTTP_POST));
    g_assert_false(route_takes(&table[1], HTTP_GET) || route_takes(&table[1], HTTP_HEAD));
    g_assert_true(route_takes(&table[2], HTTP_GET) && route_takes(&table[2], HTTP_HEAD));
    g_assert_false(route_takes(&table[2], HTTP_POST));
}

/* Rows: what one has; columns: what is needed, in the order of the bits, and nothing. */
static void test_roles(void) {
    static const char *const suffices[ACCESS_ROLES] = {
        "w----.", /* write */
        "-rm--.", /* read */
        "--m--.", /* metrics */
        "---p-.", /* peer */
        "wrmpa.", /* admin */
    };
    for (guint has = 0; has < ACCESS_ROLES; has++)
        for (guint needed = 0; needed <= ACCESS_ROLES; needed++)
            g_assert_cmpint(access_suffices(1u << has, needed < ACCESS_ROLES ? 1u << needed : ACCESS_ANYBODY), ==,
                            suffices[has][needed] != '-');
    g_assert_false(access_suffices(0, ACCESS_READ));
    g_assert_true(access_suffices(0, ACCESS_ANYBODY));
    g_assert_true(access_suffices(ACCESS_WRITE | ACCESS_METRICS, ACCESS_METRICS));
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/receiver/route/find", test_find);
    g_test_add_func("/receiver/route/find-asked", test_find_asked);
    g_test_add_func("/receiver/route/method", test_method);
    g_test_add_func("/receiver/route/roles", test_roles);
    return g_test_run();
}
