/* The applications of Spark in the store, and which application, stage and task a question is about. */
#pragma once

#include "analyzer/archive/spark/spark.h"
#include "analyzer/query/shared/question.h"

typedef struct AppEntry {
    const char *key;
    const SparkApp *app; /* NULL: nothing but other records of it came */
    gint64 begin_ms;     /* of the application, or when something of it was last written */
    gint64 written_ms;   /* when something of it was last written, by the wall clock */
    guint64 records[SPARK_KIND_COUNT];
} AppEntry;

typedef struct AppList {
    Archive *archive;
    SparkRecords *records; /* owns texts and SparkApps */
    GArray *entries;       /* AppEntry, newest first */
} AppList;

/* NULL with *error. */
AppList *app_list_load(Archive *archive, GError **error);
void app_list_free(AppList *list);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AppList, app_list_free)

/* 'text' is "latest" (the newest), a key, a name (of several of one name the newest is meant), or the beginning of just
 * one key. NULL with INPUT or NOT_FOUND, whose messages say what there is. */
const AppEntry *app_list_find(const AppList *list, const char *text, GError **error);
/* The one in the parameter "app". INPUT when it is not given. */
const AppEntry *asked_app_entry(const Asked *asked, const AppList *list, GError **error);
/* Its key alone. Free with g_free(). */
char *asked_app(const Asked *asked, GError **error);

/* Its id as Spark has it, which trace ids of tasks are made of. */
const char *app_entry_id(const AppEntry *entry);
/* The parameter "stage", "N" or "N.ATTEMPT"; -1 each where not given. INPUT. */
gboolean asked_stage(const Asked *asked, gint64 *stage, gint64 *attempt, GError **error);

/* Of an application whose log has said nothing for so long it is taken that it died: a driver of Spark that lives sends
 * something every few seconds while tasks run. */
#define APP_SILENT_MS (10 * 60 * 1000)
/* How long ago the newest event of a log was that has no end, where that is too long; else -1. */
gint64 app_silent_ms(const SparkApp *app, gint64 now_ms);
/* As far as its log tells. NULL: not known, so no. */
gboolean app_runs(const SparkApp *app, gint64 now_ms);

/* Adds "app", "id", "name", "state", times, ... of an application to an object. */
void json_add_app(const Asked *asked, json_t *object, const AppEntry *entry);
/* Adds a time in ms as ns under the name; nothing when it is unknown (below 0). */
void json_add_ms(json_t *object, const char *name, gint64 ms);
/* Adds a text; nothing when it is NULL. */
void json_add_text(json_t *object, const char *name, const char *text);
