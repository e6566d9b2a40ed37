/* Sessions of browsers: how long they last, and who gives way. */
#include "common/base/clock.h"
#include "receiver/http/login.h"

#define MANY 3000

static gboolean is_there(Sessions *sessions, const char *id, gint64 now_ns) {
    TokenMark token;
    return sessions_find(sessions, id, now_ns, &token) != NULL;
}

static void test_twelve_hours(void) {
    Sessions *sessions = sessions_new();
    const gint64 ends_ns = LOGIN_SECONDS * NS_PER_SEC;
    TokenMark token = 0;
    g_autofree char *id = g_strdup(sessions_begin(sessions, "token:a", 7, 0));
    g_assert_cmpstr(sessions_find(sessions, id, ends_ns - 1, &token), ==, "token:a");
    g_assert_cmpuint(token, ==, 7);
    g_assert_false(is_there(sessions, id, ends_ns));
    sessions_free(sessions);
}

/* Whoever logs in again and again ends sessions of its own. */
static void test_nobody_logs_others_out(void) {
    Sessions *sessions = sessions_new();
    g_autofree char *good = g_strdup(sessions_begin(sessions, "token:good", 1, 0));
    g_autofree char *first = g_strdup(sessions_begin(sessions, "token:greedy", 2, 1));
    g_autofree char *last = NULL;
    for (gint64 i = 0; i < MANY; i++) {
        g_free(last);
        last = g_strdup(sessions_begin(sessions, "token:greedy", 2, 2 + i));
    }
    g_assert_true(is_there(sessions, good, MANY));
    g_assert_false(is_there(sessions, first, MANY));
    g_assert_true(is_there(sessions, last, MANY));
    sessions_end(sessions, good);
    g_assert_false(is_there(sessions, good, MANY));
    sessions_free(sessions);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/sessions/twelve hours", test_twelve_hours);
    g_test_add_func("/sessions/nobody logs others out", test_nobody_logs_others_out);
    return g_test_run();
}
