/* The audit log: its lines, and what happens when they cannot be written, or come too fast. */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "receiver/secure/audit.h"

static char *folder;

static char *file(const char *name) { return g_build_filename(folder, name, NULL); }

static guint64 count_lines(const char *path) {
    g_autofree char *text = NULL;
    gsize length;
    guint64 n = 0;
    g_assert_true(g_file_get_contents(path, &text, &length, NULL));
    for (gsize i = 0; i < length; i++) n += text[i] == '\n';
    return n;
}

/* Whatever the texts are, it is one line of ASCII that is not too long. */
static void test_any_text(void) {
    char line[AUDIT_LINE_BYTES];
    for (guint round = 0; round < 3000; round++) {
        const gsize length = (gsize)g_test_rand_int_range(0, round % 10 == 0 ? 20000 : 100);
        g_autofree char *text = g_malloc(length + 1);
        for (gsize i = 0; i < length; i++) text[i] = (char)g_test_rand_int_range(1, 256);
        text[length] = '\0';
        const AuditEvent event = {.action = AUDIT_QUESTION,
                                  .port = "http",
                                  .principal = text,
                                  .address = "::1",
                                  .route = text,
                                  .query = text,
                                  .outcome = text};
        const gsize size = audit_line(&event, round, line);
        g_assert_cmpuint(size, <=, AUDIT_LINE_BYTES);
        for (gsize i = 0; i + 1 < size; i++) g_assert_true(line[i] >= ' ' && line[i] < 0x7f);
        g_assert_true(line[0] == '{' && line[size - 2] == '}' && line[size - 1] == '\n');
    }
}

static const AuditEvent flush = {.action = AUDIT_FLUSH, .port = "http", .address = "::1", .outcome = "ok"};

/* Every line is written or counted as lost, and nobody waits. */
static void test_too_fast(void) {
    g_autofree char *path = file("fast");
    g_autoptr(GError) error = NULL;
    Audit *audit = audit_new(path, AUDIT_LEVEL_CHANGES, &error);
    g_assert_no_error(error);
    for (guint i = 0; i < 100000; i++) audit_note(audit, &flush);
    AuditFigures figures = audit_figures(audit);
    g_assert_cmpuint(figures.lost, <, 100000); /* those written count the lines about the lost ones, too */
    while (audit_figures(audit).written == 0) g_thread_yield();
    audit_free(audit);

    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    guint64 told = 0, left_out = 0;
    for (char *at = text, *end; *at != '\0'; at = end + 1) {
        end = strchr(at, '\n');
        *end = '\0';
        const char *lines = strstr(at, "\"lines\":");
        told += lines == NULL;
        if (lines != NULL) left_out += g_ascii_strtoull(lines + strlen("\"lines\":"), NULL, 10);
    }
    g_assert_cmpuint(told + left_out, ==, 100000);
}

/* A disk that is full: the lines are lost and counted, and those that fit again are there. */
static void test_no_room(void) {
    g_autofree char *path = file("full");
    g_autoptr(GError) error = NULL;
    struct rlimit limit, small;
    g_assert_cmpint(getrlimit(RLIMIT_FSIZE, &limit), ==, 0);
    small = (struct rlimit){4000, limit.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    Audit *audit = audit_new(path, AUDIT_LEVEL_CHANGES, &error);
    g_assert_no_error(error);
    g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &small), ==, 0);
    for (guint i = 0; i < 100; i++) audit_note(audit, &flush);
    AuditFigures figures;
    do figures = audit_figures(audit);
    while (figures.written + figures.lost < 100);
    g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &limit), ==, 0);
    g_assert_cmpuint(figures.lost, >, 50);
    audit_note(audit, &flush);
    audit_free(audit);

    /* The one that the limit cut stands alone. */
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    guint whole = 0, cut = 0;
    for (guint i = 0; lines[i] != NULL; i++) {
        whole += g_str_has_prefix(lines[i], "{") && g_str_has_suffix(lines[i], "}");
        cut += lines[i][0] != '\0' && !g_str_has_suffix(lines[i], "}");
    }
    g_assert_cmpuint(whole, ==, figures.written + 1);
    g_assert_cmpuint(cut, ==, 1);
}

static void test_levels(void) {
    g_autofree char *path = file("levels");
    Audit *audit = audit_new(path, AUDIT_LEVEL_CHANGES, NULL);
    AuditEvent question = flush;
    question.action = AUDIT_QUESTION;
    audit_note(NULL, &flush);
    audit_note(audit, &question);
    audit_note(audit, &flush);
    audit_set_level(audit, AUDIT_LEVEL_READS);
    audit_note(audit, &question);
    audit_set_level(audit, AUDIT_LEVEL_NONE);
    audit_note(audit, &flush);
    audit_free(audit);
    g_assert_cmpuint(count_lines(path), ==, 2);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    folder = g_dir_make_tmp("plumb-audit-XXXXXX", NULL);
    g_test_add_func("/audit/any text", test_any_text);
    g_test_add_func("/audit/too fast", test_too_fast);
    g_test_add_func("/audit/no room", test_no_room);
    g_test_add_func("/audit/levels", test_levels);
    const int code = g_test_run();
    static const char *const names[] = {"fast", "full", "levels"};
    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *path = file(names[i]);
        g_unlink(path);
    }
    g_rmdir(folder);
    return code;
}
