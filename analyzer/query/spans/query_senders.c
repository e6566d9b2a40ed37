/* What became of each process's spans, as the store knows it. plumbd adds what is open, and what senders say. */
#include "analyzer/archive/tables/account.h"
#include "analyzer/query/shared/question.h"
#include "analyzer/query/spans/sender_rows.h"
#include "analyzer/query/spans/span_answers.h"

typedef struct Rows {
    Archive *archive;
    json_t *rows;
} Rows;

static void add_row(void *arg, guint32 tracer, const gint64 fields[ACCOUNT_FIELDS]) {
    const Rows *rows = arg;
    json_t *row = sender_rows_get(rows->rows, rows->archive, tracer);
    gint64 removed = fields[ACCOUNT_THINNED] + fields[ACCOUNT_EXPIRED];
    sender_row_add(row, "received", fields[ACCOUNT_TAKEN] + fields[ACCOUNT_REPEATED] + fields[ACCOUNT_WAITING]);
    sender_row_add(row, "stored", fields[ACCOUNT_TAKEN] - removed);
    sender_row_add(row, "waiting", fields[ACCOUNT_WAITING]);
    sender_row_add(row, "repeated", fields[ACCOUNT_REPEATED]);
    sender_row_add(row, "thinned", fields[ACCOUNT_THINNED]);
    sender_row_add(row, "expired", fields[ACCOUNT_EXPIRED]);
}

json_t *answer_senders(const Asked *asked, GError **error) {
    (void)error;
    g_autoptr(AccountTable) books = account_table_new();
    archive_accounts(asked->archive, books);
    json_auto_t *table = json_object();
    Rows rows = {asked->archive, table};
    account_foreach(books, add_row, &rows);
    json_t *answer = json_object();
    sender_rows_finish(table, answer);
    return answer;
}
