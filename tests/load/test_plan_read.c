/* Plans that are wrong: each says where, and what. */
#include <string.h>

#include "analyzer/load/plan/plan.h"
#include "common/base/error.h"
#include "common/base/fnv.h"

#define HEAD "plumb-load-plan 1\nwarm-up-ns 0\nduration-ns 1000\nclients 2\n\n"

/* body: after the head; %H in it becomes the hash of what is before. */
static char *with_hash(const char *text) {
    const char *mark = strstr(text, "%H");
    if (mark == NULL) return g_strdup(text);
    const char *line = mark;
    while (line > text && line[-1] != '\n') line--;
    const guint64 hash = fnv64(FNV64_BASIS, text, (gsize)(line - text));
    return g_strdup_printf("%.*s%016" G_GINT64_MODIFIER "x%s", (int)(mark - text), text, hash, mark + 2);
}

static const struct {
    const char *text, *error; /* NULL: it is sound */
} cases[] = {
    {HEAD "f 10\no 0 read 0 0 2 8\no 0 write 1 1 0 5\no 3 delete 0 1 0 0\no 999 mkdir 0 2 0 0\nend 1 4 %H\n", NULL},
    {HEAD "end 0 0 %H\n", NULL},
    {HEAD "f 9\no 5 read 1 0 0 9\no + stat 1 0 0 0\no + write 1 1 0 5\no 7 stat 0 1 0 0\nend 1 4 %H\n", NULL},
    {HEAD "f 9\no + read 1 0 0 9\n", "line 7 of the plan: it follows (+) no operation of its client"},
    {HEAD "f 9\no 5 read 1 0 0 9\no + read 0 0 0 9\n", "it follows (+) no operation of its client"},
    {HEAD "f 9\no 5 read 1 0 0 9\no +5 read 1 0 0 9\n", "not of the form 'o "},
    {"", "this is no plan"},
    {"PK\3\4", "this is no plan"},
    {"plumb-load-plan 2\n", "version 2"},
    {"plumb-load-plan x\n", "no number of a version"},
    {"plumb-load-plan 1\nclients\n", "line 2"},
    {"plumb-load-plan 1\nclients 2\n\n", "lacks warm-up-ns"},
    {"plumb-load-plan 1\nwarm-up-ns -1\n\n", "warm-up-ns is no number"},
    {"plumb-load-plan 1\nwarm-up-ns 0\nduration-ns 1\nclients 99999999\n\n", "clients is no number from 0 to 10000"},
    {HEAD, "cut"},
    {HEAD "f 10\n", "cut"},
    {HEAD "end 0 0 %H", "cut"},
    {HEAD "f\n", "line 6 of the plan: not of the form 'f BYTES'"},
    {HEAD "f 1x\n", "'f BYTES'"},
    {HEAD "f 1 2\n", "'f BYTES'"},
    {HEAD "f 99999999999999999999\n", "'f BYTES'"},
    {HEAD "x 1\n", "a line is a file"},
    {HEAD "\n", "a line is a file"},
    {HEAD "f 10\no 0 read 0 0 0\n", "line 7 of the plan: not of the form 'o "},
    {HEAD "f 10\no 0 read 0 0 0 1 1\n", "not of the form 'o "},
    {HEAD "f 10\no -1 read 0 0 0 1\n", "not of the form 'o "},
    {HEAD "f 10\no 0 raed 0 0 0 1\n", "no such kind"},
    {HEAD "f 10\no 5 read 0 0 0 1\no 4 read 0 0 0 1\n", "line 8 of the plan: it is due before"},
    {HEAD "f 10\no 1000 read 0 0 0 1\n", "due after the end"},
    {HEAD "f 10\no 0 read 2 0 0 1\n", "no such client"},
    {HEAD "f 10\no 0 read 0 1 0 1\n", "no file of this number"},
    {HEAD "f 10\no 0 read 0 0 3 8\n", "past the end"},
    {HEAD "f 10\no 0 pread 0 0 11 0\n", "past the end"},
    {HEAD "o 0 write 0 1 0 8\n", "the next number"},
    {HEAD "o 0 write 0 0 0 8\no 0 read 0 0 0 9\n", "past the end"},
    {HEAD "o 0 write 0 0 0 0\no 0 pread 0 0 1 0\n", "past the end"},
    {HEAD "o 0 write 0 0 0 8\no 0 read 0 0 0 8\nend 0 2 %H\n", NULL},
    {HEAD "o 0 write 0 0 0 0\no 0 read 0 0 0 0\nend 0 2 %H\n", NULL},
    {HEAD "o 0 mkdir 0 0 0 0\no 0 stat 0 0 0 0\n", "a folder's"},
    {HEAD "end 0 0 0\n", "was changed"},
    {HEAD "f 1\nend 0 0 %H\n", "was changed"},
    {HEAD "end 0 0\n", "'end FILES"},
    {HEAD "end 0 0 %H\nf 1\n", "something follows the end"},
};

static void test_case(gconstpointer data) {
    const guint i = GPOINTER_TO_UINT(data);
    g_autofree char *text = with_hash(cases[i].text);
    g_autoptr(GError) error = NULL;
    g_autoptr(LoadPlanReader) reader = load_plan_reader_new(NULL, NULL);
    LoadPlanSums sums;
    gboolean sound = TRUE;
    for (gsize at = 0; text[at] != '\0' && sound; at++) sound = load_plan_read(reader, (Bytes){text + at, 1}, &error);
    sound = sound && load_plan_read_end(reader, &sums, &error);
    if (cases[i].error == NULL) {
        g_assert_no_error(error);
        g_assert_true(sound);
        return;
    }
    g_assert_false(sound);
    g_assert_nonnull(strstr(error->message, cases[i].error));
}

static void test_long_line(void) {
    g_autofree char *line = g_strnfill(1 << 20, 'a');
    g_autoptr(GError) error = NULL;
    g_autoptr(LoadPlanReader) reader = load_plan_reader_new(NULL, NULL);
    g_assert_false(load_plan_read(reader, (Bytes){line, 1 << 20}, &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_INPUT);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *name = g_strdup_printf("/load/plan-read/%u", i);
        g_test_add_data_func(name, GUINT_TO_POINTER(i), test_case);
    }
    g_test_add_func("/load/plan-read/long-line", test_long_line);
    return g_test_run();
}
