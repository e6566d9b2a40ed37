#include "analyzer/query/asked_app.h"

#include <string.h>

#include "analyzer/archive/spark.h"
#include "common/base/error.h"
#include "common/base/nearest.h"

typedef struct Loading {
    Archive *archive;
    SparkRecords *into;
    GError *failure;
} Loading;

static gboolean take_owner(void *arg, const SparkOwner *owner) {
    Loading *loading = arg;
    if (owner->records[SPARK_APP] == 0) return TRUE; /* only its tasks have come yet */
    const SparkSelect select = SPARK_SELECT(SPARK_APP, owner->name);
    return archive_spark_load(loading->archive, &select, loading->into, &loading->failure);
}

static gint latest_first(gconstpointer a, gconstpointer b) {
    const SparkApp *x = a, *y = b;
    if (x->start_ms != y->start_ms) return x->start_ms > y->start_ms ? -1 : 1;
    return strcmp(x->app, y->app);
}

gboolean apps_load(Archive *archive, SparkRecords *into, GError **error) {
    Loading loading = {archive, into, NULL};
    g_autoptr(SparkRecords) names = spark_records_new();
    gboolean visited = archive_spark_owners(archive, OWNER_APP, names, take_owner, &loading, error);
    if (loading.failure) {
        if (visited)
            g_propagate_error(error, loading.failure);
        else
            g_error_free(loading.failure);
        return FALSE;
    }
    if (visited) g_array_sort(into->of[SPARK_APP], latest_first);
    return visited;
}

/* By key or its beginning. *several: the beginning of more than one. */
static const SparkApp *by_key(const SparkRecords *apps, const char *text, gboolean *several) {
    const SparkApp *found = NULL;
    *several = FALSE;
    for (guint i = 0; i < apps->of[SPARK_APP]->len; i++) {
        const SparkApp *app = spark_app(apps, i);
        if (strcmp(app->app, text) == 0) {
            *several = FALSE;
            return app;
        }
        if (!g_str_has_prefix(app->app, text)) continue;
        *several = found != NULL;
        if (!found) found = app;
    }
    return found;
}

static const SparkApp *by_name(const SparkRecords *apps, const char *text) {
    for (guint i = 0; i < apps->of[SPARK_APP]->len; i++) {
        const SparkApp *app = spark_app(apps, i);
        if (app->name && strcmp(app->name, text) == 0) return app;
    }
    return NULL;
}

static void not_found(const SparkRecords *apps, const char *text, GError **error) {
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (guint i = 0; i < apps->of[SPARK_APP]->len; i++) {
        const SparkApp *app = spark_app(apps, i);
        g_ptr_array_add(names, (gpointer)app->app);
        if (app->name) g_ptr_array_add(names, (gpointer)app->name);
    }
    g_ptr_array_add(names, NULL);
    const char *nearest = nearest_name(text, (const char *const *)names->pdata);
    if (names->len == 1)
        fail(error, PLUMB_ERROR_NOT_FOUND, "no application is stored: plumb-bridge sends their event logs");
    else if (nearest)
        fail(error, PLUMB_ERROR_NOT_FOUND, "no application \"%s\": did you mean \"%s\"?", text, nearest);
    else
        fail(error, PLUMB_ERROR_NOT_FOUND, "no application \"%s\": \"apps\" lists those that are stored", text);
}

char *asked_app(const Asked *asked, GError **error) {
    const char *text = params_text(asked->params, "app");
    if (!text || !text[0]) {
        fail(error, PLUMB_ERROR_INPUT, "which application? Give its id, the beginning of it, its name, or \"latest\"");
        return NULL;
    }
    g_autoptr(SparkRecords) apps = spark_records_new();
    if (!apps_load(asked->archive, apps, error)) return NULL;
    if (strcmp(text, "latest") == 0 && apps->of[SPARK_APP]->len > 0) return g_strdup(spark_app(apps, 0)->app);
    gboolean several = FALSE;
    const SparkApp *key = by_key(apps, text, &several), *name = by_name(apps, text);
    if (key && !several) return g_strdup(key->app);
    if (name) return g_strdup(name->app);
    if (several)
        fail(error, PLUMB_ERROR_INPUT, "several applications begin with \"%s\": give more of the id", text);
    else
        not_found(apps, text, error);
    return NULL;
}

gboolean asked_stage(const Asked *asked, gint64 *stage, gint64 *attempt, GError **error) {
    const char *text = params_text(asked->params, "stage");
    *stage = *attempt = -1;
    if (!text) return TRUE;
    g_auto(GStrv) parts = g_strsplit(text, ".", 2);
    gint64 numbers[2] = {-1, -1};
    for (guint i = 0; parts[i]; i++) {
        if (!g_ascii_string_to_signed(parts[i], 10, 0, G_MAXINT32, &numbers[i], NULL))
            return fail(error, PLUMB_ERROR_INPUT, "stage \"%s\": give its number, or number and attempt: 3, 3.1", text);
    }
    if (numbers[0] < 0) return fail(error, PLUMB_ERROR_INPUT, "stage: give its number, or number and attempt: 3, 3.1");
    *stage = numbers[0];
    *attempt = numbers[1];
    return TRUE;
}
