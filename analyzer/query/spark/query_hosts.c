/* Hosts of HDFS that made tasks slow: which, what of them, since when; of one host, each of the tasks. */
#include <string.h>

#include "analyzer/query/spans/functions.h"
#include "analyzer/query/spark/app_causes.h"
#include "analyzer/query/spark/spark_answers.h"
#include "analyzer/query/spark/straggler_rows.h"
#include "analyzer/query/spark/tasks/asked_app.h"
#include "common/base/clock.h"

#define DEFAULT_LIMIT 50u
/* Without an application, so many are looked at, those that started last. */
#define APPS_MAX 20u

typedef struct Hosts {
    const Asked *asked;
    Suspects *suspects;
    const char *host; /* NULL: all */
    json_t *tasks;    /* of that host */
    guint64 limit;
    guint apps;
    gboolean more;
} Hosts;

static void hosts_clear(Hosts *hosts) {
    suspects_free(hosts->suspects);
    json_decref(hosts->tasks);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Hosts, hosts_clear)

static void add_task(Hosts *hosts, const AppCauses *causes, const StragglerCause *cause) {
    if (hosts->limit > 0 && json_array_size(hosts->tasks) >= hosts->limit) {
        hosts->more = TRUE;
        return;
    }
    json_t *object = straggler_json(causes->tasks, causes->stragglers, cause->straggler);
    json_object_set_new(object, "app", json_string(causes->tasks->app.app));
    json_object_set_new(object, "explains_ns", json_integer((gint64)(cause->explains_ms * NS_PER_MS)));
    json_object_set_new(object, "trace", json_trace_id(cause->hdfs->trace));
    json_object_set_new(object, "suspect", suspect_json(hosts->asked->archive, &cause->suspect));
    json_array_append_new(hosts->tasks, object);
}

/* Of one host's tasks one wants to see since when: by begin. */
static gint by_begin(gconstpointer a, gconstpointer b, gpointer arg) {
    const AppCauses *causes = arg;
    const guint32 x = cause_row(causes, a), y = cause_row(causes, b);
    const gint64 *begin_ms = causes->tasks->table->begin_ms;
    if (begin_ms[x] != begin_ms[y]) return begin_ms[x] < begin_ms[y] ? -1 : 1;
    return x < y ? -1 : x > y;
}

static gboolean add_app(Hosts *hosts, const char *app, GError **error) {
    const BigRootsOptions options = bigroots_options(TRUE);
    g_autoptr(AppCauses) causes = app_causes_load(hosts->asked, app, &options, error);
    if (!causes) return FALSE;
    hosts->apps++;
    g_array_sort_with_data(causes->causes, by_begin, causes);
    for (guint i = 0; i < causes->causes->len; i++) {
        const StragglerCause *cause = &g_array_index(causes->causes, StragglerCause, i);
        if (!cause->in_hdfs) continue;
        const char *host = dict_text(archive_dict(hosts->asked->archive), cause->suspect.host, NULL);
        if (hosts->host && strcmp(host, hosts->host) != 0) continue;
        suspects_add(hosts->suspects, &cause->suspect, cause->explains_ms,
                     causes->tasks->table->begin_ms[cause_row(causes, cause)]);
        if (hosts->host) add_task(hosts, causes, cause);
    }
    return TRUE;
}

/* Did it run in the period? */
static gboolean app_fits(const SparkApp *app, const Period *period) {
    const gint64 end_ms = app->end_ms >= 0 ? app->end_ms : G_MAXINT64;
    return app->start_ms <= period->until_ns / NS_PER_MS && end_ms >= period->since_ns / NS_PER_MS;
}

static gboolean add_apps(Hosts *hosts, GError **error) {
    Period period = {G_MININT64, G_MAXINT64};
    if (!params_period(hosts->asked->params, hosts->asked->now_ns, &period, error)) return FALSE;
    if (params_text(hosts->asked->params, "app")) {
        g_autofree char *app = asked_app(hosts->asked, error);
        return app && add_app(hosts, app, error);
    }
    g_autoptr(AppList) apps = app_list_load(hosts->asked->archive, error);
    if (!apps) return FALSE;
    for (guint i = 0; i < apps->entries->len; i++) {
        const SparkApp *app = g_array_index(apps->entries, AppEntry, i).app;
        if (!app || !app_fits(app, &period)) continue; /* NULL: only its tasks have come yet */
        if (hosts->apps == APPS_MAX) {
            hosts->more = TRUE;
            break;
        }
        if (!add_app(hosts, app->app, error)) return FALSE;
    }
    return TRUE;
}

json_t *answer_hosts(const Asked *asked, GError **error) {
    g_auto(Hosts) hosts = {.asked = asked, .suspects = suspects_new(), .tasks = json_array(), .limit = DEFAULT_LIMIT};
    hosts.host = params_text(asked->params, "host");
    if (!params_count(asked->params, "limit", &hosts.limit, error) || !known_host(asked, error) ||
        !add_apps(&hosts, error))
        return NULL;
    json_t *answer = json_object();
    json_object_set_new(answer, "apps", json_count(hosts.apps));
    json_object_set_new(answer, "hosts", suspects_json(asked->archive, hosts.suspects, NULL, NULL));
    if (hosts.host) json_object_set(answer, "tasks", hosts.tasks);
    json_object_set_new(answer, "more", json_boolean(hosts.more));
    return answer;
}
