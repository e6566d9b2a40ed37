/* Results of loads: whatever stands there, it is read or refused, and a report can be made of it. */
#include "analyzer/load/results/report.h"
#include "fuzz/target.h"

static LoadRun *read_in(const uint8_t *data, size_t size, size_t piece_bytes) {
    g_autoptr(GError) error = NULL;
    g_autoptr(LoadRunReader) reader = load_run_reader_new();
    gboolean sound = TRUE;
    for (size_t at = 0; at < size && sound; at += piece_bytes)
        sound = load_run_read(reader, (Bytes){data + at, MIN(piece_bytes, size - at)}, &error);
    LoadRun *run = sound ? load_run_read_end(reader, &error) : NULL;
    g_assert_true((run != NULL) == (error == NULL));
    if (error != NULL) g_assert_true(g_utf8_validate(error->message, -1, NULL));
    return run;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    g_autoptr(LoadRun) whole = read_in(data, size, size > 0 ? size : 1);
    g_autoptr(LoadRun) pieces = read_in(data, size, 61);
    g_assert_true((whole == NULL) == (pieces == NULL));
    if (whole == NULL) return 0;

    g_assert_cmpuint(whole->records, ==, pieces->records);
    g_assert_cmpuint(whole->damaged, <=, whole->records);
    const LoadReportOptions options = {LOAD_SLOWEST, TRUE};
    json_t *report = load_report(whole, "result", &options), *same = load_report(pieces, "result", &options);
    g_assert_nonnull(report);
    g_assert_true(json_equal(report, same));
    json_t *both = load_compare(report, same);
    g_assert_nonnull(both);
    json_decref(both);

    /* As one of several hosts: refused, since the share is there twice, or since it has none. */
    g_autoptr(GError) error = NULL;
    g_assert_false(load_run_merge(whole, pieces, &error));
    g_assert_nonnull(error);
    return 0;
}
