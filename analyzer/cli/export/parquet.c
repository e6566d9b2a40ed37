#include "analyzer/cli/export/parquet.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "analyzer/cli/export/chosen.h"
#include "analyzer/cli/export/duckdb.h"
#include "analyzer/cli/export/line_counts.h"
#include "analyzer/cli/format/partial_file.h"
#include "analyzer/cli/format/progress.h"
#include "common/base/error.h"

/* Lines of rows are handed over in pieces of this size. */
#define PIECE_BYTES (256u * 1024)

#define QUANTILES(unit)                                                                                                \
    "mean_" unit ": 'BIGINT', std_" unit ": 'BIGINT', min_" unit ": 'BIGINT', max_" unit ": 'BIGINT', q25_" unit       \
    ": 'BIGINT', q50_" unit ": 'BIGINT', q75_" unit ": 'BIGINT', q95_" unit ": 'BIGINT', q99_" unit ": 'BIGINT'"
#define QUANTILE_FIELDS(unit)                                                                                          \
    "mean_" unit " BIGINT, std_" unit " BIGINT, min_" unit " BIGINT, max_" unit " BIGINT, q25_" unit                   \
    " BIGINT, q50_" unit " BIGINT, q75_" unit " BIGINT, q95_" unit " BIGINT, q99_" unit " BIGINT"

static const DuckDbTable functions_table = {
    "FROM {rows}",
    "\"function\": 'VARCHAR', role: 'VARCHAR', calls: 'BIGINT', " QUANTILES(
        "ns") ", total_ns: 'BIGINT', "
              "self_ns: 'BIGINT', critical_ns: 'BIGINT', resolution_ns: 'BIGINT', exact_quantiles: 'BOOLEAN', "
              "reversed_calls: 'BIGINT', outside_parent_calls: 'BIGINT', orphan_calls: 'BIGINT', "
              "bytes: 'STRUCT(calls BIGINT, total_bytes BIGINT, " QUANTILE_FIELDS(
                  "bytes") ", zero_calls BIGINT, "
                           "small_calls BIGINT)', rate: 'STRUCT(calls BIGINT, " QUANTILE_FIELDS("bytes_per_s") ")'"};

static const DuckDbTable traces_table = {
    "FROM {rows}",
    "trace: 'VARCHAR', root: 'VARCHAR', role: 'VARCHAR', host: 'VARCHAR', begin_time_ns: 'BIGINT', "
    "duration_ns: 'BIGINT', spans: 'BIGINT', orphans: 'BIGINT', incomplete: 'BOOLEAN', pattern: 'VARCHAR'"};

/* Values of a key that is repeated are in nl alone. They become a list, as in rows of "trace". */
#define ANNOTATIONS                                                                                                    \
    "CASE WHEN nl IS NULL THEN coalesce(n, MAP {}) ELSE map(map_keys(n), "                                             \
    "[CASE WHEN len([p FOR p IN nl IF p[1] = k]) = 1 THEN n[k] "                                                       \
    "ELSE CAST(to_json([p[2] FOR p IN nl IF p[1] = k]) AS VARCHAR) END FOR k IN map_keys(n)]) END AS annotations "

/* Of the lines of an export: HTrace's keys (common/wire/json/span_json.h). Records of Spark have no id. */
static const DuckDbTable lines_table = {
    "SELECT a[1:16] AS trace, a AS span, p AS parents, d AS function, split_part(r, '/', 1) AS process, "
    "nullif(split_part(r, '/', 2), '') AS host, TRY_CAST(split_part(r, '/', 3) AS BIGINT) AS pid, "
    "coalesce(bn, b * 1000000) AS begin_time_ns, "
    "coalesce(en, e * 1000000) - coalesce(bn, b * 1000000) AS duration_ns, " ANNOTATIONS
    "FROM {rows} WHERE a IS NOT NULL",
    "a: 'VARCHAR', b: 'BIGINT', e: 'BIGINT', bn: 'BIGINT', en: 'BIGINT', d: 'VARCHAR', r: 'VARCHAR', "
    "p: 'VARCHAR[]', n: 'MAP(VARCHAR, VARCHAR)', nl: 'VARCHAR[][]'"};

/* The same of rows of "trace". */
static const DuckDbTable rows_table = {
    "SELECT span[1:16] AS trace, span, parents, \"function\", process, nullif(host, '') AS host, pid, begin_time_ns, "
    "duration_ns, coalesce(annotations, MAP {}) AS annotations FROM {rows}",
    "span: 'VARCHAR', parents: 'VARCHAR[]', \"function\": 'VARCHAR', process: 'VARCHAR', host: 'VARCHAR', "
    "pid: 'BIGINT', begin_time_ns: 'BIGINT', duration_ns: 'BIGINT', annotations: 'MAP(VARCHAR, VARCHAR)'"};

/* One file on its way. */
typedef struct Parquet {
    const Invocation *invocation;
    const volatile sig_atomic_t *stop;
    const char *program;
    Source *source;
    Progress *progress;
    DuckDb *duckdb;
    GString *text; /* lines that are not handed over yet */
    guint64 rows;
    LineCounts lines;
} Parquet;

static gboolean hand_over_text(Parquet *parquet, GError **error) {
    const gboolean done = duckdb_write(parquet->duckdb, (Bytes){parquet->text->str, parquet->text->len}, error);
    g_string_truncate(parquet->text, 0);
    return done;
}

/* ---- rows ---- */

static gboolean put_row(void *arg, const json_t *row, GError **error) {
    Parquet *parquet = arg;
    char *line = json_dumps(row, JSON_COMPACT);
    g_string_append(parquet->text, line);
    g_string_append_c(parquet->text, '\n');
    free(line);
    parquet->rows++;
    return parquet->text->len < PIECE_BYTES || hand_over_text(parquet, error);
}

static gboolean put_rows(Parquet *parquet, const json_t *list, GError **error) {
    gsize i;
    const json_t *row;
    json_array_foreach((json_t *)list, i, row) {
        if (!put_row(parquet, row, error)) return FALSE;
    }
    return TRUE;
}

static void keep_only(Ask *ask, const char *const *names) {
    for (guint i = ask->names->len; i > 0; i--) {
        if (g_strv_contains(names, g_ptr_array_index(ask->names, i - 1))) continue;
        g_ptr_array_remove_index(ask->names, i - 1);
        g_ptr_array_remove_index(ask->values, i - 1);
    }
}

/* Statistics know these alone. */
static gboolean put_functions(Parquet *parquet, GError **error) {
    static const char *const known[] = {"since", "until", "function", "host", "role", NULL};
    g_autoptr(Ask) ask = invocation_ask(parquet->invocation, "functions");
    keep_only(ask, known);
    ask_add(ask, "limit", "0");
    json_auto_t *answer = source_ask(parquet->source, ask, error);
    return answer != NULL && put_rows(parquet, field_list(answer, "functions"), error);
}

static gboolean put_traces(Parquet *parquet, GError **error) {
    const ChosenVisitor visitor = {put_row, parquet};
    return chosen_visit(parquet->invocation, parquet->source, NULL, &visitor, error);
}

/* ---- spans ---- */

static gboolean put_spans_of(void *arg, const json_t *document, GError **error) {
    Parquet *parquet = arg;
    progress_update(parquet->progress, parquet->rows, 0, "spans");
    if (chosen_is_cut(document)) return chosen_fail_cut(document, error);
    return put_rows(parquet, field_list(document, "spans"), error);
}

static gboolean put_trace(void *arg, const json_t *row, GError **error) {
    Parquet *parquet = arg;
    const ChosenSpans spans = {put_spans_of, parquet};
    return chosen_load(parquet->source, field_text(row, "trace"), &spans, error);
}

static gboolean put_chosen(Parquet *parquet, GError **error) {
    const ChosenVisitor visitor = {put_trace, parquet};
    return chosen_visit(parquet->invocation, parquet->source, NULL, &visitor, error);
}

static gboolean put_piece(void *arg, Bytes piece, GError **error) {
    Parquet *parquet = arg;
    line_counts_add(&parquet->lines, piece);
    parquet->rows = parquet->lines.spans;
    progress_update(parquet->progress, parquet->rows, 0, "spans");
    return duckdb_write(parquet->duckdb, piece, error);
}

static gboolean put_lines(Parquet *parquet, GError **error) {
    g_autoptr(Ask) ask = invocation_ask(parquet->invocation, "export");
    const SourceSink sink = {put_piece, parquet};
    return source_export(parquet->source, ask, &sink, error);
}

/* ---- files ---- */

typedef struct ParquetFile {
    const char *name;
    const DuckDbTable *table;
    gboolean (*put)(Parquet *parquet, GError **error);
    guint64 *rows;
} ParquetFile;

static PartialFile *write_file(Parquet *parquet, const ParquetFile *file, GError **error) {
    g_autofree char *path = g_build_filename(option_text(parquet->invocation, "parquet"), file->name, NULL);
    g_autoptr(PartialFile) partial = partial_file_new(path, error);
    if (partial == NULL) return NULL;
    g_autoptr(DuckDb) duckdb = duckdb_start(parquet->program, file->table, partial->temporary, parquet->stop, error);
    if (duckdb == NULL) return NULL;

    parquet->duckdb = duckdb;
    parquet->rows = 0;
    g_string_truncate(parquet->text, 0);
    if (!file->put(parquet, error) || !hand_over_text(parquet, error) || !duckdb_finish(duckdb, error)) return NULL;
    *file->rows = parquet->rows;
    return partial_file_complete(partial, error) ? g_steal_pointer(&partial) : NULL;
}

static gboolean write_files(Parquet *parquet, ParquetCounts *counts, GError **error) {
    const gboolean chosen = chosen_is_asked(parquet->invocation);
    const ParquetFile files[] = {
        {"functions.parquet", &functions_table, put_functions, &counts->functions},
        {"traces.parquet", &traces_table, put_traces, &counts->traces},
        {"spans.parquet", chosen ? &rows_table : &lines_table, chosen ? put_chosen : put_lines, &counts->spans}};
    g_autoptr(GPtrArray) written = g_ptr_array_new_with_free_func((GDestroyNotify)partial_file_free);
    for (guint i = 0; i < G_N_ELEMENTS(files); i++) {
        PartialFile *file = write_file(parquet, &files[i], error);
        if (file == NULL) return FALSE;
        g_ptr_array_add(written, file);
    }
    for (guint i = 0; i < written->len; i++) {
        PartialFile *file = g_ptr_array_index(written, i);
        struct stat status;
        if (!partial_file_publish(file, error)) return FALSE;
        if (stat(file->path, &status) == 0) counts->bytes += (guint64)status.st_size;
    }
    return TRUE;
}

gboolean parquet_export(const Invocation *invocation, const volatile sig_atomic_t *stop, ParquetCounts *counts,
                        GError **error) {
    const char *folder = option_text(invocation, "parquet");
    g_autofree char *program = duckdb_find(option_text(invocation, "duckdb"), error);
    if (program == NULL) return FALSE;
    if (g_mkdir_with_parents(folder, 0777) != 0) return fail_errno(error, errno, "cannot make the folder %s", folder);
    g_autoptr(Source) source = source_open(&invocation->source, error);
    if (source == NULL) return FALSE;

    signal(SIGPIPE, SIG_IGN); /* duckdb may end before it has read all */
    g_autoptr(GString) text = g_string_new(NULL);
    g_autoptr(Progress) progress = progress_start(&invocation->style, "writing Parquet");
    Parquet parquet = {.invocation = invocation,
                       .stop = stop,
                       .program = program,
                       .source = source,
                       .progress = progress,
                       .text = text};
    return write_files(&parquet, counts, error);
}
