#include "receiver/state/status_accounts.h"

#include "analyzer/query/spans/sender_rows.h"
#include "receiver/state/account_report.h"

/* What a process and all of them have alike, in the order of the answer. */
static const struct {
    const char *name;
    gsize offset;
} sum_fields[] = {
    {"received", G_STRUCT_OFFSET(AccountSums, received)}, {"stored", G_STRUCT_OFFSET(AccountSums, stored)},
    {"open", G_STRUCT_OFFSET(AccountSums, open)},         {"waiting", G_STRUCT_OFFSET(AccountSums, waiting)},
    {"repeated", G_STRUCT_OFFSET(AccountSums, repeated)}, {"thinned", G_STRUCT_OFFSET(AccountSums, thinned)},
    {"expired", G_STRUCT_OFFSET(AccountSums, expired)},   {"set_aside", G_STRUCT_OFFSET(AccountSums, set_aside)},
};

static gint64 sum_at(const AccountSums *sums, guint field) {
    return G_STRUCT_MEMBER(gint64, sums, sum_fields[field].offset);
}

static void set_integer(json_t *object, const char *name, gint64 value) {
    json_object_set_new(object, name, json_integer(value));
}

json_t *accounts_status(const StateSources *sources) {
    AccountReport accounts = account_report_read(sources);
    const AccountSums *sums = &accounts.sums;
    json_t *object = json_object();
    for (guint i = 0; i < G_N_ELEMENTS(sum_fields); i++) set_integer(object, sum_fields[i].name, sum_at(sums, i));
    set_integer(object, "replayed", sums->replayed);
    set_integer(object, "refused", (gint64)accounts.refused);
    json_object_set_new(object, "settled", json_boolean(accounts.settled));
    json_object_set_new(object, "agree", json_boolean(accounts.agree));
    return object;
}

/* ---- by process ---- */

typedef struct Rows {
    Archive *archive;
    json_t *rows;
} Rows;

static void add_books(void *arg, guint32 tracer, const AccountSums *sums) {
    const Rows *rows = arg;
    json_t *row = sender_rows_get(rows->rows, rows->archive, tracer);
    for (guint i = 0; i < G_N_ELEMENTS(sum_fields); i++) sender_row_add(row, sum_fields[i].name, sum_at(sums, i));
}

static gboolean said_anything(const SenderInfo *info) {
    if (info->name[0] != '\0' || info->spans_sent > 0 || info->n_drops > 0) return TRUE;
    for (guint i = 0; i < PACK_RESULT_COUNT; i++)
        if (info->refused[i] > 0) return TRUE;
    return FALSE;
}

static void add_said(void *arg, const SenderInfo *info) {
    const Rows *rows = arg;
    if (!said_anything(info)) return;
    json_t *row = sender_rows_named(rows->rows, info->name);
    sender_row_add(row, "sent", info->spans_sent);
    sender_row_add(row, "queued", info->spans_queued);
    sender_row_add(row, "repeated_batches", (gint64)info->repeated);
    sender_row_add(row, "received_since_start", (gint64)info->received);
    sender_row_max(row, "last_seen_time_ns", info->last_seen_ns);
    for (guint32 i = 0; i < info->n_drops; i++)
        sender_row_count(row, "drops", info->drops[i].reason, info->drops[i].spans);
    for (guint i = 0; i < PACK_RESULT_COUNT; i++) {
        const char *reason = pack_result_text((PackResult)i);
        if (info->refused[i] > 0) sender_row_count(row, "refused", reason, (gint64)info->refused[i]);
    }
}

void accounts_senders(const StateSources *sources, json_t *document) {
    json_auto_t *table = json_object();
    Rows rows = {sources->archive, table};
    AccountSums all;
    accounts_read(sources->accounts, add_books, &rows, &all);
    senders_foreach(sources->senders, add_said, &rows);
    sender_rows_finish(table, document);
    json_object_set_new(document, "accounting", accounts_status(sources));
}
