/* What was done, on one host or on all: faults that were made, deployments. */
#include <string.h>

#include "analyzer/archive/spark/spark.h"
#include "analyzer/query/nodes/node_answers.h"
#include "common/base/allowance.h"
#include "common/base/error.h"

#define MARKS_USUAL 1000

typedef struct Gathered {
    const char *host, *kind; /* NULL: all */
    Period period;
    GArray *owners; /* names of hosts that have marks */
    GArray *marks;  /* HostMark */
} Gathered;

/* A mark on all hosts is one on each. */
static gboolean take_owner(void *arg, const SparkOwner *owner) {
    Gathered *gathered = arg;
    const gboolean fits =
        gathered->host == NULL || strcmp(owner->name, gathered->host) == 0 || strcmp(owner->name, MARK_ALL_HOSTS) == 0;
    if (fits && owner->records[SPARK_MARK] > 0) g_array_append_val(gathered->owners, owner->name);
    return TRUE;
}

/* Those that last into the period, too. */
static gboolean take_mark(void *arg, const void *record) {
    Gathered *gathered = arg;
    const HostMark *mark = record;
    const gint64 last_ns = MAX(mark->begin_ns, mark->end_ns);
    const gboolean fits = gathered->kind == NULL || g_strcmp0(mark->kind, gathered->kind) == 0;
    if (fits && last_ns >= gathered->period.since_ns) g_array_append_val(gathered->marks, *mark);
    return allowance_goes_on();
}

static int newest_first(gconstpointer a, gconstpointer b, gpointer arg) {
    (void)arg;
    const HostMark *x = a, *y = b;
    if (x->begin_ns != y->begin_ns) return x->begin_ns > y->begin_ns ? -1 : 1;
    const int hosts = strcmp(x->host, y->host);
    return hosts != 0 ? hosts : g_strcmp0(x->kind, y->kind);
}

json_t *mark_json(const HostMark *mark) {
    json_t *row = json_object();
    json_object_set_new(row, "begin_time_ns", json_integer(mark->begin_ns));
    if (mark->end_ns >= 0) json_object_set_new(row, "end_time_ns", json_integer(mark->end_ns));
    if (strcmp(mark->host, MARK_ALL_HOSTS) != 0)
        json_object_set_new(row, "host", json_text(mark->host, strlen(mark->host)));
    if (mark->kind != NULL) json_object_set_new(row, "kind", json_text(mark->kind, strlen(mark->kind)));
    if (mark->text != NULL) json_object_set_new(row, "text", json_text(mark->text, strlen(mark->text)));
    return row;
}

static gboolean gather(const Asked *asked, Gathered *gathered, SparkRecords *texts, GError **error) {
    const SparkOwnerVisitor owners = {take_owner, gathered};
    gsize held = 0;
    gboolean good = archive_spark_owners(asked->archive, OWNER_HOST, texts, owners, error);
    for (guint i = 0; good && i < gathered->owners->len && allowance_goes_on(); i++) {
        SparkSelect select = SPARK_SELECT(SPARK_MARK, g_array_index(gathered->owners, const char *, i));
        select.until_ns = gathered->period.until_ns;
        good = archive_spark_visit(asked->archive, &select, texts, (SparkVisitor){take_mark, gathered}, error);
        allowance_hold(&held, spark_records_bytes(texts) + gathered->marks->len * sizeof(HostMark));
    }
    allowance_hold(&held, 0);
    return good;
}

json_t *answer_marks(const Asked *asked, GError **error) {
    g_autoptr(SparkRecords) texts = spark_records_new();
    g_autoptr(GArray) owners = g_array_new(FALSE, FALSE, sizeof(const char *));
    g_autoptr(GArray) marks = g_array_new(FALSE, FALSE, sizeof(HostMark));
    Gathered gathered = {.host = params_text(asked->params, "host"),
                         .kind = params_text(asked->params, "kind"),
                         .period = {G_MININT64, G_MAXINT64},
                         .owners = owners,
                         .marks = marks};
    guint64 limit = MARKS_USUAL;
    if (!params_period(asked->params, asked->now_ns, &gathered.period, error) ||
        !params_count(asked->params, "limit", &limit, error) || !gather(asked, &gathered, texts, error))
        return NULL;
    allowance_sort(marks->data, marks->len, sizeof(HostMark), newest_first, NULL);

    json_t *answer = json_object(), *rows = json_array();
    const guint n = answer_rows(asked, limit, marks->len, answer);
    for (guint i = 0; i < n && allowance_goes_on(); i++)
        json_array_append_new(rows, mark_json(&g_array_index(marks, HostMark, i)));
    json_object_set_new(answer, "marks", rows);
    return answer;
}
