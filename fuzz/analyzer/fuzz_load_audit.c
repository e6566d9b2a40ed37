/* Audit logs of NameNodes: whatever stands there, it is refused, or becomes a plan that can be read; in pieces of any
 * size the same. */
#include "analyzer/load/plan/audit_plan.h"
#include "fuzz/target.h"

static gboolean append(void *arg, Bytes piece, GError **error) {
    (void)error;
    g_string_append_len(arg, piece.data, (gssize)piece.size_bytes);
    return TRUE;
}

static gboolean take(AuditPlan *plan, Bytes log, size_t piece_bytes, GString *text, GError **error) {
    const char *data = log.data;
    for (size_t at = 0; at < log.size_bytes; at += piece_bytes)
        if (!audit_plan_scan(plan, (Bytes){data + at, MIN(piece_bytes, log.size_bytes - at)}, error)) return FALSE;
    if (!audit_plan_turn(plan, append, text, error)) return FALSE;
    for (size_t at = 0; at < log.size_bytes; at += piece_bytes)
        if (!audit_plan_read(plan, (Bytes){data + at, MIN(piece_bytes, log.size_bytes - at)}, error)) return FALSE;
    return TRUE;
}

/* The plan; NULL: refused. */
static GString *plan_of(const uint8_t *data, size_t size, size_t piece_bytes) {
    AuditOptions options = {.speed = 3};
    g_autoptr(GError) error = NULL;
    LoadPlanSums sums;
    AuditSums of_log;
    g_assert_true(load_preset("alicloud", &options.model));
    options.model.warm_up_ns = 0;
    g_autoptr(AuditPlan) plan = audit_plan_new(&options);
    GString *text = g_string_new(NULL);
    const gboolean sound =
        take(plan, (Bytes){data, size}, piece_bytes, text, &error) && audit_plan_end(plan, &sums, &of_log, &error);
    g_assert_true(sound == (error == NULL));
    if (sound) {
        g_assert_cmpuint(of_log.operations, ==, sums.operations);
        g_assert_cmpuint(of_log.operations + of_log.refused + of_log.other_lines + of_log.later, <=, of_log.lines);
        return text;
    }
    g_assert_true(g_utf8_validate(error->message, -1, NULL));
    g_string_free(text, TRUE);
    return NULL;
}

static void check_plan(const GString *text) {
    g_autoptr(GError) error = NULL;
    g_autoptr(LoadPlanReader) reader = load_plan_reader_new(NULL, NULL);
    LoadPlanSums sums;
    const gboolean sound =
        load_plan_read(reader, (Bytes){text->str, text->len}, &error) && load_plan_read_end(reader, &sums, &error);
    g_assert_no_error(error);
    g_assert_true(sound);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    GString *whole = plan_of(data, size, size > 0 ? size : 1), *pieces = plan_of(data, size, 7);
    g_assert_true((whole == NULL) == (pieces == NULL));
    if (whole == NULL) return 0;
    g_assert_true(g_string_equal(whole, pieces));
    check_plan(whole);
    g_string_free(whole, TRUE);
    g_string_free(pieces, TRUE);
    return 0;
}
