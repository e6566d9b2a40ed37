#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "analyzer/cli/commands/commands.h"
#include "analyzer/cli/commands/option_sets.h"
#include "common/base/clock.h"
#include "common/base/harmless.h"
#include "common/model/spark.h"

/* When a stage ends is told by all hosts' statistics: it costs more than to look for stragglers. */
#define ENDS_EVERY_NS (20 * NS_PER_SEC)

static volatile sig_atomic_t stopped;

static void ask_to_stop(int signal_number) {
    (void)signal_number;
    stopped = 1;
}

/* Stragglers that were named: "<app> <task>" -> whether with a cause. */
typedef struct Watch {
    Invocation *invocation;
    Source *source;
    GHashTable *named;
    GHashTable *ends;               /* "<app> <stage>" -> EndTold */
    gint64 ends_looked_ns;          /* monotonic */
    gboolean ends_due, ends_failed; /* failed: that was said */
} Watch;

/* What was told of a stage's end last. */
typedef struct EndTold {
    gboolean known;
    gint64 earliest_ns, latest_ns;
} EndTold;

/* now_ns: of a row that tells when a stage ends; 0: of a straggler. */
static gboolean print(const Watch *watch, const json_t *app, const json_t *row, gint64 now_ns) {
    g_autoptr(GString) text = g_string_new(NULL);
    if (watch->invocation->json) {
        json_t *line = json_copy((json_t *)row);
        json_object_set_new(line, "kind", json_string(now_ns != 0 ? "stage-end" : "straggler"));
        json_object_set(line, "app", json_object_get(app, "app"));
        char *dumped = json_dumps(line, JSON_COMPACT);
        harmless_json_append(text, dumped, strlen(dumped));
        g_string_append_c(text, '\n');
        free(dumped);
        json_decref(line);
    } else {
        if (now_ns != 0)
            show_end_line(app, row, now_ns, &watch->invocation->style, text);
        else
            show_straggler_line(app, row, &watch->invocation->style, text);
    }
    return fputs(text->str, stdout) >= 0 && fflush(stdout) == 0;
}

/* Running stragglers of one application; with task, only that one. NULL with *error. */
static json_t *ask_why(const Watch *watch, const char *app, const char *task, GError **error) {
    g_autoptr(Ask) ask = ask_new("why");
    ask_add(ask, "app", app);
    ask_add(ask, "status", "running");
    ask_add(ask, "limit", "0");
    if (task) ask_add(ask, "task", task);
    return source_ask(watch->source, ask, error);
}

/* What HDFS has done for a task that still runs lies in plumbd's open traces: asking for the trace has it stored. */
static json_t *with_traces(const Watch *watch, const json_t *app, const json_t *row) {
    const guint64 trace = task_trace_id(field_text(app, "id"), field_int(row, "task"));
    g_autofree char *id = g_strdup_printf("%016" G_GINT64_MODIFIER "x", trace);
    g_autofree char *task = g_strdup_printf("%" G_GINT64_FORMAT, field_int(row, "task"));
    g_autoptr(Ask) ask = ask_new("trace");
    ask_add(ask, "id", id);
    ask_add(ask, "limit", "1");
    json_decref(source_ask(watch->source, ask, NULL)); /* it may have none */
    return ask_why(watch, field_text(app, "app"), task, NULL);
}

/* FALSE: standard output is gone. */
static gboolean watch_straggler(Watch *watch, const json_t *app, const json_t *row) {
    g_autofree char *key = g_strdup_printf("%s %" G_GINT64_FORMAT, field_text(app, "app"), field_int(row, "task"));
    gpointer known = g_hash_table_lookup(watch->named, key);
    if (known == GUINT_TO_POINTER(2)) return TRUE;
    json_t *again = field_object(row, "main_cause") ? NULL : with_traces(watch, app, row);
    const json_t *better = again ? json_array_get(field_list(again, "stragglers"), 0) : NULL;
    if (better) row = better;
    const guint state = field_object(row, "main_cause") ? 2 : 1;
    gboolean good = TRUE;
    if (known != GUINT_TO_POINTER(state)) good = print(watch, app, row, 0);
    g_hash_table_insert(watch->named, g_steal_pointer(&key), GUINT_TO_POINTER(state));
    json_decref(again);
    return good;
}

/* ---- when stages end ---- */

/* Told when it is first known or not, and when it will be another time than was told. */
static gboolean watch_end(Watch *watch, const json_t *app, const json_t *stage, gint64 now_ns) {
    g_autofree char *key = g_strdup_printf("%s %" G_GINT64_FORMAT ".%" G_GINT64_FORMAT, field_text(app, "app"),
                                           field_int(stage, "stage"), field_int(stage, "stage_attempt"));
    const EndTold *told = g_hash_table_lookup(watch->ends, key);
    const gint64 end_ns = field_int(stage, "end_time_ns");
    const EndTold now = {field_true(stage, "known"), field_int(stage, "earliest_time_ns"),
                         field_int(stage, "latest_time_ns")};
    if (told && told->known == now.known && (!now.known || (end_ns >= told->earliest_ns && end_ns <= told->latest_ns)))
        return TRUE;
    g_hash_table_insert(watch->ends, g_steal_pointer(&key), g_memdup2(&now, sizeof now));
    return print(watch, app, stage, now_ns);
}

static void say_ends_failed(Watch *watch, const GError *error) {
    if (watch->ends_failed) return;
    watch->ends_failed = TRUE;
    g_autofree char *line = harmless_line(error->message);
    fprintf(stderr, "plumb watch: when stages end is not told: %s\n", line);
}

/* An older plumbd does not know the question, and it may take too much: stragglers are named all the same. FALSE:
 * standard output is gone. */
static gboolean watch_ends(Watch *watch, const json_t *app) {
    g_autoptr(GError) error = NULL;
    g_autoptr(Ask) ask = ask_new("ends");
    ask_add(ask, "app", field_text(app, "app"));
    json_auto_t *ends = source_ask(watch->source, ask, &error);
    gsize i;
    const json_t *stage;
    if (!ends) {
        say_ends_failed(watch, error);
        return TRUE;
    }
    json_array_foreach((json_t *)field_list(ends, "stages"), i, stage) {
        if (!watch_end(watch, app, stage, field_int(ends, "now_time_ns"))) return FALSE;
    }
    return TRUE;
}

/* One look at all running applications, *n of them. FALSE with *error set: plumbd did not answer; without: no
 * output. */
static gboolean look(Watch *watch, guint *n, GError **error) {
    const char *only = option_text(watch->invocation, "app");
    g_autoptr(Ask) ask = ask_new("apps");
    json_auto_t *apps = source_ask(watch->source, ask, error);
    gsize i, k;
    const json_t *app, *row;
    if (!apps) return FALSE;
    json_array_foreach((json_t *)field_list(apps, "apps"), i, app) {
        if (strcmp(field_text(app, "state"), "running") != 0) continue;
        if (only && strcmp(only, field_text(app, "app")) != 0 && strcmp(only, field_text(app, "name")) != 0) continue;
        json_auto_t *why = ask_why(watch, field_text(app, "app"), NULL, error);
        if (!why) return FALSE;
        ++*n;
        json_array_foreach((json_t *)field_list(why, "stragglers"), k, row) {
            if (!watch_straggler(watch, app, row)) return FALSE;
        }
        if (watch->ends_due && !watch_ends(watch, app)) return FALSE;
    }
    return TRUE;
}

static CliExit watch_all(Watch *watch, guint64 interval_s) {
    for (gboolean first = TRUE; !stopped; first = FALSE) {
        GError *error = NULL;
        guint running = 0;
        const gint64 now_ns = clock_monotonic_ns(clock_system());
        watch->ends_due = first || now_ns - watch->ends_looked_ns >= ENDS_EVERY_NS;
        if (watch->ends_due) watch->ends_looked_ns = now_ns;
        if (!look(watch, &running, &error)) {
            if (!error) return CLI_FAILED;
            if (first) return invocation_failed(watch->invocation, error);
            g_autofree char *line = harmless_line(error->message);
            fprintf(stderr, "plumb watch: %s (asking again in %" G_GUINT64_FORMAT " s)\n", line, interval_s);
            g_error_free(error);
        } else if (first && running == 0) {
            invocation_say("watch", option_text(watch->invocation, "app") != NULL
                                        ? "no such application of Spark runs: plumb apps lists all"
                                        : "no application of Spark runs whose event log plumb-bridge --follow sends");
        }
        if (option_flag(watch->invocation, "once")) break;
        const struct timespec pause = {.tv_sec = (time_t)interval_s};
        if (!stopped) clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL); /* a signal ends it */
    }
    return CLI_OK;
}

static CliExit watch_run(Invocation *invocation) {
    const guint64 interval_s = option_number(invocation, "interval");
    if (interval_s == 0 || interval_s > 3600) return invocation_usage(invocation, "--interval: give 1 to 3600 seconds");
    const struct sigaction action = {.sa_handler = ask_to_stop};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    GError *error = NULL;
    g_autoptr(Source) source = source_open(&invocation->source, &error);
    if (!source) return invocation_failed(invocation, error);
    g_autoptr(GHashTable) named = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GHashTable) ends = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    Watch watch = {invocation, source, named, ends, 0, FALSE, FALSE};
    return watch_all(&watch, interval_s);
}

static const Option options[] = {
    {"app", OPTION_TEXT, "APP", NULL, "only this application, by id or name (default: all that run)", NULL},
    {"interval", OPTION_NUMBER, "SECONDS", NULL, "how often to look", "5"},
    {"once", OPTION_FLAG, NULL, NULL, "look once", NULL},
    OPTION_THE_END,
};

const Command command_watch = {
    .name = "watch",
    .arguments = "",
    .summary = "name the stragglers of running applications, and say when stages will end",
    .about =
        "Looks at the running applications of Spark every few "
        "seconds, and names each task that already takes at least\n"
        "1.5 times the median of its stage; again once a cause is seen. Says when each running stage will end, from\n"
        "its tasks and how fast their hosts are (nodes --predict), and again when that changes. Needs a\n"
        "plumb-bridge --follow that sends the growing event logs. Spark 4 compresses them, and writes a block only\n"
        "when it is full: set spark.eventLog.compress=false and spark.eventLog.buffer.kb=1 for the application, or it\n"
        "shows late. With --json each straggler (kind: straggler), and each stage's end (kind: stage-end), is one\n"
        "line.",
    .example = "  plumb watch\n"
               "  plumb watch --app app-20260101120000-0001 --json\n",
    .options = options,
    .server_only = TRUE,
    .run = watch_run,
};
