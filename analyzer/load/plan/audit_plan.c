#include "analyzer/load/plan/audit_plan.h"

#include <string.h>

#include "analyzer/load/plan/model.h"
#include "analyzer/load/plan/plan_text.h"
#include "common/base/error.h"

#define NS_PER_MS     G_GINT64_CONSTANT(1000000)
#define NS_PER_SECOND G_GINT64_CONSTANT(1000000000)
/* Threads of the NameNode write lines a little out of order; an hour is the end of summer time. */
#define BACK_MOST_MS 10000
/* Of a file that is appended to without one. */
#define APPENDED_BYTES 1024
#define COMMANDS_MOST  1000u

/* What a path is in the plan. */
typedef struct File {
    guint64 number;
    gint64 size_bytes;
} File;

struct AuditPlan {
    AuditOptions options;
    gboolean turned;
    GString *rest; /* of a line that is not ended yet */
    guint64 line;
    gint64 first_ms, last_ms; /* of the log; then last_ms of the lines so far */
    gint64 end_ns;            /* of the plan */
    GHashTable *read;         /* paths that are read, of the first time */
    GHashTable *files;        /* path -> File */
    GHashTable *users;        /* -> client + 1 */
    Draws draws;
    PlanText text;
    AuditSums sums;
};

static const struct {
    const char *command;
    LoadKind kind;
} kinds[] = {{"open", LOAD_READ},        {"create", LOAD_WRITE},    {"append", LOAD_APPEND},
             {"getfileinfo", LOAD_STAT}, {"listStatus", LOAD_LIST}, {"mkdirs", LOAD_MKDIR},
             {"rename", LOAD_RENAME},    {"delete", LOAD_DELETE},   {"getAttributes", LOAD_STAT}};

static LoadKind kind_of(Bytes command) {
    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++)
        if (strlen(kinds[i].command) == command.size_bytes &&
            memcmp(kinds[i].command, command.data, command.size_bytes) == 0)
            return kinds[i].kind;
    return LOAD_KINDS;
}

AuditPlan *audit_plan_new(const AuditOptions *options) {
    AuditPlan *plan = g_new0(AuditPlan, 1);
    plan->options = *options;
    plan->rest = g_string_new(NULL);
    plan->first_ms = G_MAXINT64;
    plan->last_ms = G_MININT64;
    plan->read = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    plan->files = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    plan->users = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    plan->sums.left_out = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    draws_init(&plan->draws, options->model.seed);
    return plan;
}

void audit_plan_free(AuditPlan *plan) {
    if (plan == NULL) return;
    g_string_free(plan->rest, TRUE);
    g_hash_table_unref(plan->read);
    g_hash_table_unref(plan->files);
    g_hash_table_unref(plan->users);
    g_hash_table_unref(plan->sums.left_out);
    plan_text_clear(&plan->text);
    g_free(plan);
}

static gboolean wrong(const AuditPlan *plan, const char *what, GError **error) {
    return fail(error, PLUMB_ERROR_INPUT, "line %" G_GUINT64_FORMAT " of the audit log: %s", plan->line, what);
}

/* ---- the first time ---- */

static gboolean scan_line(AuditPlan *plan, const AuditLine *line, GError **error) {
    if (plan->last_ms != G_MININT64 && line->time_ms < plan->last_ms - BACK_MOST_MS)
        return wrong(plan,
                     "it is before the line above it: the log must be in the order of time. Several NameNodes' logs "
                     "are sorted first, and one over the end of summer time is cut there",
                     error);
    plan->first_ms = MIN(plan->first_ms, line->time_ms);
    plan->last_ms = MAX(plan->last_ms, line->time_ms);
    if (kind_of(line->command) != LOAD_READ || !line->allowed) return TRUE;
    if (g_hash_table_size(plan->read) == LOAD_FILES_MOST)
        return fail(error, PLUMB_ERROR_LIMIT, "the audit log has more than %u paths: use a part of it",
                    LOAD_FILES_MOST);
    g_hash_table_add(plan->read, g_strndup(line->source.data, line->source.size_bytes));
    return TRUE;
}

/* ---- the second time ---- */

static gboolean count_left_out(AuditPlan *plan, Bytes command) {
    g_autofree char *raw = g_strndup(command.data, command.size_bytes);
    char *name = g_utf8_make_valid(raw, -1);
    guint64 *n = g_hash_table_lookup(plan->sums.left_out, name);
    if (n == NULL && g_hash_table_size(plan->sums.left_out) < COMMANDS_MOST) {
        n = g_new0(guint64, 1);
        g_hash_table_insert(plan->sums.left_out, g_steal_pointer(&name), n);
    }
    if (n != NULL) ++*n;
    g_free(name);
    return TRUE;
}

/* Users become clients in the order in which they come. */
static guint client_of(AuditPlan *plan, Bytes user) {
    g_autofree char *name = g_strndup(user.data, user.size_bytes);
    gpointer known = g_hash_table_lookup(plan->users, name);
    if (known != NULL) return GPOINTER_TO_UINT(known) - 1;
    const guint n = g_hash_table_size(plan->users);
    const guint client = n % plan->options.model.clients;
    if (n < LOAD_FILES_MOST) g_hash_table_insert(plan->users, g_steal_pointer(&name), GUINT_TO_POINTER(client + 1));
    return client;
}

static gint64 draw_size(AuditPlan *plan, gint64 most_bytes) {
    const gint64 drawn = draw_request_bytes(&plan->draws, &plan->options.model);
    plan->text.sums.requests_cut += drawn > most_bytes;
    return MIN(drawn, most_bytes);
}

static File *remember(AuditPlan *plan, const char *path, guint64 number, gint64 size_bytes) {
    File *file = g_new(File, 1);
    *file = (File){number, size_bytes};
    g_hash_table_replace(plan->files, g_strdup(path), file);
    return file;
}

/* The file of this path; one that is not known is there before the load. least_bytes: it has these at least. */
static File *file_of(AuditPlan *plan, const char *path, gint64 least_bytes) {
    File *file = g_hash_table_lookup(plan->files, path);
    if (file != NULL) return file;
    gint64 size_bytes = least_bytes;
    if (g_hash_table_contains(plan->read, path)) {
        const gint64 drawn = draw_file_bytes(&plan->draws), most_bytes = plan->options.model.max_file_bytes;
        plan->text.sums.files_cut += drawn > most_bytes;
        size_bytes = MIN(drawn, most_bytes);
    }
    return remember(plan, path, plan_text_file(&plan->text, size_bytes), size_bytes);
}

static void plan_read(AuditPlan *plan, const char *path, LoadOperation *operation) {
    const File *file = file_of(plan, path, 0);
    operation->file = file->number;
    operation->size_bytes = draw_size(plan, file->size_bytes);
    const guint64 places = (guint64)(file->size_bytes - operation->size_bytes) + 1;
    operation->offset = (gint64)draw_below(&plan->draws, DRAW_OFFSET, places);
}

static void plan_target(AuditPlan *plan, const char *path, LoadOperation *operation) {
    switch (operation->kind) {
    case LOAD_READ: plan_read(plan, path, operation); return;
    case LOAD_WRITE:
        operation->size_bytes = draw_size(plan, plan->options.model.max_file_bytes);
        operation->file = plan->text.next_number++;
        remember(plan, path, operation->file, operation->size_bytes);
        return;
    case LOAD_APPEND:
        operation->size_bytes = draw_size(plan, plan->options.model.max_file_bytes);
        operation->file = file_of(plan, path, APPENDED_BYTES)->number;
        return;
    case LOAD_MKDIR: operation->file = plan->text.next_number++; return;
    case LOAD_RENAME:
    case LOAD_DELETE:
        operation->file = file_of(plan, path, 0)->number;
        g_hash_table_remove(plan->files, path);
        return;
    default: operation->file = file_of(plan, path, 0)->number; return;
    }
}

static gboolean plan_line(AuditPlan *plan, const AuditLine *line, GError **error) {
    LoadOperation operation = {.kind = kind_of(line->command)};
    if (!line->allowed) {
        plan->sums.refused++;
        return TRUE;
    }
    if (operation.kind == LOAD_KINDS) return count_left_out(plan, line->command);

    plan->last_ms = MAX(plan->last_ms, line->time_ms);
    const double due_ns = (double)(plan->last_ms - plan->first_ms) * (double)NS_PER_MS / plan->options.speed;
    if (due_ns >= (double)plan->end_ns) {
        plan->sums.later++;
        return TRUE;
    }
    if (g_hash_table_size(plan->files) >= LOAD_FILES_MOST)
        return fail(error, PLUMB_ERROR_LIMIT, "the audit log has more than %u paths: use a part of it, by --duration",
                    LOAD_FILES_MOST);
    g_autofree char *path = g_strndup(line->source.data, line->source.size_bytes);
    operation.due_ns = (gint64)due_ns;
    operation.client = client_of(plan, line->user);
    plan_target(plan, path, &operation);
    plan->sums.operations++;
    return plan_text_operation(&plan->text, &operation, error);
}

/* ---- lines ---- */

static gboolean take_line(AuditPlan *plan, const char *line, gsize length, GError **error) {
    AuditLine parsed;
    const char *lacks = NULL;
    plan->line++;
    plan->sums.lines++;
    switch (audit_line_parse(line, length, &parsed, &lacks)) {
    case AUDIT_OTHER: plan->sums.other_lines++; return TRUE;
    case AUDIT_BAD: {
        g_autofree char *what = g_strconcat("it lacks ", lacks, NULL);
        return wrong(plan, what, error);
    }
    default: return plan->turned ? plan_line(plan, &parsed, error) : scan_line(plan, &parsed, error);
    }
}

static gboolean take(AuditPlan *plan, Bytes piece, GError **error) {
    const char *at = piece.data, *end = at + piece.size_bytes;
    while (at < end) {
        const char *line_end = memchr(at, '\n', (gsize)(end - at));
        const gsize length = (gsize)((line_end != NULL ? line_end : end) - at);
        if (length + plan->rest->len > AUDIT_LINE_MOST_BYTES) {
            plan->line++;
            return wrong(plan, "it is too long to be one of an audit log", error);
        }
        g_string_append_len(plan->rest, at, (gssize)length);
        if (line_end == NULL) return TRUE;
        const gboolean sound = take_line(plan, plan->rest->str, plan->rest->len, error);
        g_string_truncate(plan->rest, 0);
        if (!sound) return FALSE;
        at = line_end + 1;
    }
    return TRUE;
}

gboolean audit_plan_scan(AuditPlan *plan, Bytes piece, GError **error) { return take(plan, piece, error); }
gboolean audit_plan_read(AuditPlan *plan, Bytes piece, GError **error) { return take(plan, piece, error); }

static void append_head(const AuditPlan *plan) {
    const LoadModel *model = &plan->options.model;
    char speed[G_ASCII_DTOSTR_BUF_SIZE];
    g_string_append_printf(plan->text.text, "plumb-load-plan 1\npreset audit\nseed %" G_GUINT64_FORMAT "\nspeed %s\n",
                           model->seed, g_ascii_formatd(speed, sizeof speed, "%.12g", plan->options.speed));
    g_string_append_printf(plan->text.text, "warm-up-ns %" G_GINT64_FORMAT "\nduration-ns %" G_GINT64_FORMAT "\n",
                           model->warm_up_ns, plan->end_ns - model->warm_up_ns);
    g_string_append_printf(plan->text.text, "max-file %" G_GINT64_FORMAT "\nsize-unit %" G_GINT64_FORMAT "\n",
                           model->max_file_bytes, model->size_unit_bytes);
    g_string_append_printf(plan->text.text, "clients %u\n\n", model->clients);
}

/* Whole seconds, and past the last operation. */
static gboolean set_end(AuditPlan *plan, GError **error) {
    const double span_ns = (double)(plan->last_ms - plan->first_ms) * (double)NS_PER_MS / plan->options.speed;
    if (plan->options.duration_ns == 0 && span_ns >= (double)LOAD_SECONDS_MOST * (double)NS_PER_SECOND)
        return fail(error, PLUMB_ERROR_LIMIT,
                    "the log is of %.1f days at that speed; a load takes 7 at most: give "
                    "--duration, or a higher --speed",
                    span_ns / (double)NS_PER_SECOND / 86400);
    plan->end_ns = plan->options.duration_ns;
    if (plan->end_ns == 0 || span_ns < (double)plan->end_ns)
        plan->end_ns = ((gint64)span_ns / NS_PER_SECOND + 1) * NS_PER_SECOND;
    if (plan->options.duration_ns > 0) plan->end_ns = MIN(plan->end_ns, plan->options.duration_ns);
    if (plan->end_ns <= plan->options.model.warm_up_ns)
        return fail(error, PLUMB_ERROR_CONFIG, "--warm-up: nothing is left after it; the replay takes %.1f s",
                    (double)plan->end_ns / (double)NS_PER_SECOND);
    return TRUE;
}

gboolean audit_plan_turn(AuditPlan *plan, LoadPlanWrite write, void *arg, GError **error) {
    if (plan->last_ms == G_MININT64)
        return fail(error, PLUMB_ERROR_INPUT,
                    "there is no line of the NameNode's audit log (FSNamesystem.audit) in it");
    if (!set_end(plan, error)) return FALSE;
    g_string_truncate(plan->rest, 0);
    plan->turned = TRUE;
    plan->line = plan->sums.lines = plan->sums.other_lines = 0;
    plan->last_ms = plan->first_ms;
    plan_text_init(&plan->text, write, arg);
    append_head(plan);
    return TRUE;
}

gboolean audit_plan_end(AuditPlan *plan, LoadPlanSums *sums, AuditSums *of_log, GError **error) {
    if (!plan_text_end(&plan->text, error)) return FALSE;
    *sums = plan->text.sums;
    *of_log = plan->sums;
    of_log->end_ns = plan->end_ns;
    return TRUE;
}
