#include "analyzer/cli/load/waited.h"

#include <string.h>

#define ROWS          "100" /* of functions and calls: all that a request of HDFS has */
#define NS_PER_US     1000
#define NS_PER_SECOND G_GINT64_CONSTANT(1000000000)

/* FALSE: the head does not say. */
static gboolean started_ns(const LoadRun *run, gint64 *ns) {
    g_autoptr(GTimeZone) utc = g_time_zone_new_utc();
    g_autoptr(GDateTime) started = g_date_time_new_from_iso8601(load_run_head(run, "started"), utc);
    if (started == NULL) return FALSE;
    *ns = g_date_time_to_unix(started) * NS_PER_SECOND + g_date_time_get_microsecond(started) * (gint64)NS_PER_US;
    return TRUE;
}

static void add_time(Ask *ask, const char *name, gint64 ns) {
    char text[32];
    g_snprintf(text, sizeof text, "%" G_GINT64_FORMAT, ns);
    ask_add(ask, name, text);
}

static json_t *ask_waited(const Invocation *invocation, const LoadRun *run, gint64 begin_ns, gboolean flush,
                          GError **error) {
    guint64 closed;
    g_autoptr(Source) source = source_open(&invocation->source, error);
    g_autoptr(Ask) ask = ask_new("bottleneck");
    if (source == NULL) return NULL;
    if (flush) source_flush(source, &closed, NULL); /* where that is not allowed, what is stored must do */
    add_time(ask, "since", begin_ns + run->warm_up_ns);
    add_time(ask, "until", begin_ns + MAX(run->end_ns, run->warm_up_ns) + NS_PER_SECOND); /* some began late */
    ask_add(ask, "limit", ROWS);
    return source_ask(source, ask, error);
}

void waited_add(const Invocation *invocation, const LoadRun *run, gboolean flush, json_t *report) {
    gint64 begin_ns;
    g_autoptr(GError) error = NULL;
    if (strcmp(load_run_head(run, "traced"), "yes") != 0 || !started_ns(run, &begin_ns)) return;
    json_t *waited = ask_waited(invocation, run, begin_ns, flush, &error);
    json_object_set_new(report, "waited", waited != NULL ? waited : json_pack("{s:s}", "error", error->message));
}
