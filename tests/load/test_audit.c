/* Audit logs of a NameNode: lines, and the plans that are made of them. */
#include <string.h>

#include "analyzer/load/plan/audit_plan.h"
#include "common/base/error.h"

#define S G_GINT64_CONSTANT(1000000000)

#define AT(time, rest)                                                                                                 \
    "2026-11-21 " time " INFO FSNamesystem.audit: allowed=true\tugi=anna (auth:SIMPLE)\tip=/10.0.0.7\t" rest           \
    "\tdst=null\tperm=null\tproto=rpc\n"

static const struct {
    const char *line;
    AuditLineKind kind;
    const char *what; /* command, source; or what is wrong */
} lines[] = {
    {AT("10:00:00,123", "cmd=open\tsrc=/a/b"), AUDIT_OPERATION, "open /a/b"},
    {AT("10:00:00,123", "cmd=rename (options=[TO_TRASH])\tsrc=/a/with blank"), AUDIT_OPERATION, "rename /a/with blank"},
    {"2026-11-21T10:00:00.123 x FSNamesystem.audit: allowed=true\tugi=a\tcmd=open\tsrc=/\r\n", AUDIT_OPERATION,
     "open /"},
    {"\n", AUDIT_OTHER, NULL},
    {"2026-11-21 10:00:00,123 INFO BlockStateChange: BLOCK* allocate\n", AUDIT_OTHER, NULL},
    {"2026-13-21 10:00:00,123 INFO FSNamesystem.audit: allowed=true\tugi=a\tcmd=open\tsrc=/\n", AUDIT_BAD, "a time"},
    {"2026-02-30 10:00:00,123 INFO FSNamesystem.audit: allowed=true\tugi=a\tcmd=open\tsrc=/\n", AUDIT_BAD, "a time"},
    {"FSNamesystem.audit: allowed=true\tugi=a\tcmd=open\tsrc=/\n", AUDIT_BAD, "a time"},
    {"2026-11-21 10:00:00,123 INFO FSNamesystem.audit: ugi=a\tcmd=open\tsrc=/\n", AUDIT_BAD, "allowed="},
    {"2026-11-21 10:00:00,123 INFO FSNamesystem.audit: allowed=true\tcmd=open\tsrc=/\n", AUDIT_BAD, "ugi="},
    {"2026-11-21 10:00:00,123 INFO FSNamesystem.audit: allowed=true\tugi=a\tsrc=/\n", AUDIT_BAD, "cmd="},
    {"2026-11-21 10:00:00,123 INFO FSNamesystem.audit: allowed=true\tugi=a\tcmd=open\n", AUDIT_BAD, "src="},
};

static void test_lines(void) {
    for (guint i = 0; i < G_N_ELEMENTS(lines); i++) {
        AuditLine parsed;
        const char *wrong = NULL;
        const AuditLineKind kind = audit_line_parse(lines[i].line, strlen(lines[i].line) - 1, &parsed, &wrong);
        g_assert_cmpint(kind, ==, lines[i].kind);
        if (kind == AUDIT_BAD) g_assert_nonnull(strstr(wrong, lines[i].what));
        if (kind != AUDIT_OPERATION) continue;
        g_autofree char *command = g_strndup(parsed.command.data, parsed.command.size_bytes);
        g_autofree char *source = g_strndup(parsed.source.data, parsed.source.size_bytes);
        g_autofree char *both = g_strconcat(command, " ", source, NULL);
        g_assert_cmpstr(both, ==, lines[i].what);
        g_assert_cmpint(parsed.time_ms, ==, G_GINT64_CONSTANT(1795255200123)); /* 2026-11-21T10:00:00.123Z */
        g_assert_true(parsed.allowed);
    }
}

static gboolean append(void *arg, Bytes piece, GError **error) {
    (void)error;
    g_string_append_len(arg, piece.data, (gssize)piece.size_bytes);
    return TRUE;
}

static AuditOptions options(void) {
    AuditOptions options = {.speed = 1};
    g_assert_true(load_preset("alicloud", &options.model));
    options.model.warm_up_ns = 0;
    return options;
}

/* NULL with an error. */
static GString *plan_of(const char *log, const AuditOptions *options, gsize piece_bytes, AuditSums *of_log,
                        GError **error) {
    g_autoptr(AuditPlan) plan = audit_plan_new(options);
    GString *text = g_string_new(NULL);
    LoadPlanSums sums;
    const gsize n = strlen(log);
    gboolean sound = TRUE;
    for (gsize at = 0; sound && at < n; at += piece_bytes)
        sound = audit_plan_scan(plan, (Bytes){log + at, MIN(piece_bytes, n - at)}, error);
    sound = sound && audit_plan_turn(plan, append, text, error);
    for (gsize at = 0; sound && at < n; at += piece_bytes)
        sound = audit_plan_read(plan, (Bytes){log + at, MIN(piece_bytes, n - at)}, error);
    sound = sound && audit_plan_end(plan, &sums, of_log, error);
    of_log->left_out = NULL;
    if (sound) return text;
    g_string_free(text, TRUE);
    return NULL;
}

typedef struct Operations {
    LoadOperation all[20];
    guint n;
} Operations;

static void gather(void *arg, const LoadOperation *operation) {
    Operations *operations = arg;
    g_assert_cmpuint(operations->n, <, G_N_ELEMENTS(operations->all));
    operations->all[operations->n++] = *operation;
}

/* The plan is one, by the reader of plans. */
static Operations read_back(const GString *text, LoadPlanSums *sums) {
    Operations operations = {.n = 0};
    GError *error = NULL;
    g_autoptr(LoadPlanReader) reader = load_plan_reader_new(gather, &operations);
    load_plan_read(reader, (Bytes){text->str, text->len}, &error);
    g_assert_no_error(error);
    g_assert_true(load_plan_read_end(reader, sums, &error));
    return operations;
}

#define BY_EVA(time, allowed, rest)                                                                                    \
    "2026-11-21 " time " INFO FSNamesystem.audit: allowed=" allowed "\tugi=eva\tip=/1\t" rest "\tdst=null\n"

static const char *const day[] = {
    AT("10:00:00,000", "cmd=getfileinfo\tsrc=/old"), /* before it is read */
    AT("10:00:01,000", "cmd=create\tsrc=/new"),
    AT("10:00:03,000", "cmd=open\tsrc=/new"),
    AT("10:00:04,000", "cmd=open\tsrc=/old"),
    AT("10:00:03,900", "cmd=listStatus\tsrc=/"), /* a little out of order */
    BY_EVA("10:00:05,000", "false", "cmd=open\tsrc=/no"),
    AT("10:00:05,000", "cmd=setPermission\tsrc=/old"),
    "2026-11-21 10:00:05,100 INFO Server: another line\n",
    BY_EVA("10:00:06,000", "true", "cmd=mkdirs\tsrc=/dir"),
    AT("10:00:07,000", "cmd=rename\tsrc=/new"),
    AT("10:00:08,500", "cmd=delete\tsrc=/new"),
    AT("10:00:09,000", "cmd=append\tsrc=/old"),
    NULL,
};

static void test_plan(void) {
    const AuditOptions model = options();
    g_autofree char *log = g_strjoinv(NULL, (char **)day);
    AuditSums of_log;
    LoadPlanSums sums;
    GError *error = NULL;
    GString *text = plan_of(log, &model, 1000, &of_log, &error);
    g_assert_no_error(error);
    const Operations found = read_back(text, &sums);

    static const struct {
        double due_s;
        LoadKind kind;
        guint client;
    } expected[] = {{0, LOAD_STAT, 0},   {1, LOAD_WRITE, 0},    {3, LOAD_READ, 0},
                    {4, LOAD_READ, 0},   {4, LOAD_LIST, 0},     {6, LOAD_MKDIR, 1},
                    {7, LOAD_RENAME, 0}, {8.5, LOAD_DELETE, 0}, {9, LOAD_APPEND, 0}};
    g_assert_cmpuint(found.n, ==, G_N_ELEMENTS(expected));
    for (guint i = 0; i < found.n; i++) {
        g_assert_cmpint(found.all[i].due_ns, ==, (gint64)(expected[i].due_s * (double)S));
        g_assert_cmpint(found.all[i].kind, ==, expected[i].kind);
        g_assert_cmpuint(found.all[i].client, ==, expected[i].client);
    }

    /* What is written is read, and renamed; what was renamed is another file to be deleted. */
    g_assert_cmpuint(found.all[2].file, ==, found.all[1].file);
    g_assert_cmpuint(found.all[6].file, ==, found.all[1].file);
    g_assert_cmpuint(found.all[7].file, !=, found.all[1].file);
    g_assert_cmpuint(found.all[0].file, ==, found.all[3].file);
    g_assert_cmpuint(found.all[8].file, ==, found.all[3].file);
    g_assert_cmpuint(sums.files, ==, 3);

    g_assert_cmpuint(of_log.lines, ==, 12);
    g_assert_cmpuint(of_log.refused, ==, 1);
    g_assert_cmpuint(of_log.other_lines, ==, 1);
    g_assert_cmpuint(of_log.operations, ==, 9);
    g_assert_cmpint(of_log.end_ns, ==, 10 * S);

    for (gsize piece = 1; piece < 100; piece += 31) {
        GString *same = plan_of(log, &model, piece, &of_log, &error);
        g_assert_true(g_string_equal(text, same));
        g_string_free(same, TRUE);
    }
    g_string_free(text, TRUE);
}

static void test_speed_and_duration(void) {
    AuditOptions model = options();
    AuditSums of_log;
    LoadPlanSums sums;
    model.speed = 2;
    model.duration_ns = 3 * S;
    model.model.warm_up_ns = S;
    g_autofree char *log = g_strjoinv(NULL, (char **)day);
    GString *text = plan_of(log, &model, 1000, &of_log, NULL);
    const Operations found = read_back(text, &sums);
    g_assert_cmpuint(found.n, ==, 5);
    g_assert_cmpint(found.all[2].due_ns, ==, 3 * S / 2);
    g_assert_cmpuint(of_log.later, ==, 4);
    g_assert_nonnull(strstr(text->str, "\nduration-ns 2000000000\n"));
    g_string_free(text, TRUE);
}

static const struct {
    const char *log;
    double speed;
    gint64 warm_up_ns;
    const char *error;
} wrongs[] = {
    {"", 1, 0, "no line of the NameNode's audit log"},
    {"some text\n", 1, 0, "no line of the NameNode's audit log"},
    {AT("10:00:00,000", "cmd=open\tsrc=/a") AT("10:00:00,00x", "cmd=open\tsrc=/a"), 1, 0,
     "line 2 of the audit log: it"},
    {AT("10:00:00,000", "cmd=open\tsrc=/a") AT("10:00:00,000", "src=/a"), 1, 0, "lacks cmd="},
    {AT("10:00:20,000", "cmd=open\tsrc=/a") AT("10:00:00,000", "cmd=open\tsrc=/a"), 1, 0, "order of time"},
    {AT("10:00:00,000", "cmd=open\tsrc=/a") AT("22:00:00,000", "cmd=open\tsrc=/a"), 0.001, 0, "a higher --speed"},
    {AT("10:00:00,000", "cmd=open\tsrc=/a"), 1, 2 * S, "nothing is left after it"},
};

/* With a duration a log of any length will do. */
static void test_long_log(void) {
    static const char log[] = AT("10:00:00,000", "cmd=open\tsrc=/a") "9999-12-31 10:00:00,000 INFO FSNamesystem.audit: "
                                                                     "allowed=true\tugi=a\tcmd=open\tsrc=/b\n";
    AuditOptions model = options();
    AuditSums of_log;
    model.speed = 0.001;
    model.duration_ns = 3 * S;
    GString *text = plan_of(log, &model, 1000, &of_log, NULL);
    g_assert_nonnull(text);
    g_assert_cmpuint(of_log.operations, ==, 1);
    g_assert_cmpuint(of_log.later, ==, 1);
    g_string_free(text, TRUE);
}

static void test_wrong(void) {
    for (guint i = 0; i < G_N_ELEMENTS(wrongs); i++) {
        AuditOptions model = options();
        AuditSums of_log;
        g_autoptr(GError) error = NULL;
        model.speed = wrongs[i].speed;
        model.model.warm_up_ns = wrongs[i].warm_up_ns;
        g_assert_null(plan_of(wrongs[i].log, &model, 10, &of_log, &error));
        g_assert_nonnull(strstr(error->message, wrongs[i].error));
    }

    /* A line without an end, longer than any. */
    g_autofree char *line = g_strnfill(AUDIT_LINE_MOST_BYTES + 1, 'a');
    const AuditOptions model = options();
    g_autoptr(AuditPlan) plan = audit_plan_new(&model);
    g_autoptr(GError) error = NULL;
    g_assert_false(audit_plan_scan(plan, (Bytes){line, strlen(line)}, &error));
    g_assert_nonnull(strstr(error->message, "too long"));
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/load/audit/lines", test_lines);
    g_test_add_func("/load/audit/plan", test_plan);
    g_test_add_func("/load/audit/speed-and-duration", test_speed_and_duration);
    g_test_add_func("/load/audit/long-log", test_long_log);
    g_test_add_func("/load/audit/wrong", test_wrong);
    return g_test_run();
}
