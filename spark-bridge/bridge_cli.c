#include "spark-bridge/bridge_cli.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/harmless.h"
#include "spark-bridge/bridge.h"
#include "spark-bridge/bridge_report.h"
#include "spark-bridge/bridge_send.h"
#include "spark-bridge/samples/sample_logs.h"
#include "spark-bridge/side_logs.h"
#include "spark-bridge/watch.h"

#define DEFAULT_RECEIVER "127.0.0.1:9410"
/* Local logs wake us; this is for what cannot be watched, such as NFS. */
#define LOOK_EVERY_MS 5000u
#define DRAW_EVERY_NS (300 * NS_PER_MS)

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

typedef struct Settings {
    char *receiver, *state, *hdfs_user;
    char *ca, *certificate, *key, *token_file; /* of TLS */
    gboolean negotiate;
    char *host, *zone, *date, *since; /* of samples; host and zone of operations and splits, too */
    char **operations, **executor_logs;
    char *app, *executor; /* that these are of */
    gint every_s;
    gboolean day_first;
    char **paths;
    gint interval_s, retry_s;
    gboolean follow, check, json, version;
} Settings;

typedef struct Program {
    Settings settings;
    Watch *watch;
    Storage *storage;
    Positions *positions;
    BridgeSender *sender; /* NULL: --check */
    Bridge *bridge;
    SampleLogs *samples;
    gboolean terminal, drawn;
    gint64 begin_ns, drawn_ns;
    gboolean failed, side_failed;
    GHashTable *said; /* paths whose trouble was said: once, not in every round */
} Program;

static void settings_clear(Settings *settings) {
    g_free(settings->receiver);
    g_free(settings->ca);
    g_free(settings->certificate);
    g_free(settings->key);
    g_free(settings->token_file);
    g_free(settings->state);
    g_free(settings->hdfs_user);
    g_free(settings->host);
    g_free(settings->zone);
    g_free(settings->date);
    g_free(settings->since);
    g_strfreev(settings->operations);
    g_strfreev(settings->executor_logs);
    g_free(settings->app);
    g_free(settings->executor);
    g_strfreev(settings->paths);
}

static void erase(Program *program) {
    if (program->drawn) fputs("\r\033[K", stderr);
    program->drawn = FALSE;
}

static void say(void *arg, const char *what) {
    erase(arg);
    g_autofree char *line = harmless_line(what); /* receivers' texts, names of files and applications are in it */
    fprintf(stderr, "plumb-bridge: %s\n", line);
}

static void draw(Program *program) {
    const gint64 now_ns = clock_monotonic_ns(clock_system());
    if (!program->terminal || program->bridge == NULL || now_ns - program->drawn_ns < DRAW_EVERY_NS) return;
    const BridgeCounts *counts = bridge_counts(program->bridge);
    guint64 records = 0;
    for (guint kind = 0; kind < SPARK_KIND_COUNT; kind++) records += counts->records[kind];
    fprintf(stderr,
            "\r\033[Kreading: %" G_GUINT64_FORMAT " logs, %" G_GUINT64_FORMAT " lines, %" G_GUINT64_FORMAT " records",
            counts->logs, counts->lines, records);
    program->drawn = TRUE;
    program->drawn_ns = now_ns;
}

static gboolean stopped(void *arg) {
    Program *program = arg;
    draw(program);
    return watch_stopped(program->watch);
}

static void tell_waiting(void *arg, const char *why) {
    g_autofree char *text = why != NULL ? g_strdup_printf("%s; trying again", why) : g_strdup("HDFS answers again");
    say(arg, text);
}

static gboolean deliver(void *arg, const SparkRecords *records, GError **error) {
    Program *program = arg;
    return program->sender == NULL || bridge_sender_deliver(program->sender, records, error);
}

static void watch(void *arg, const char *folder) { watch_folder(((Program *)arg)->watch, folder); }

static gboolean parse(int *argc, char ***argv, Settings *settings, GError **error) {
    const GOptionEntry entries[] = {
        {"receiver", 'r', 0, G_OPTION_ARG_STRING, &settings->receiver, "plumbd's port for spans (" DEFAULT_RECEIVER ")",
         "HOST:PORT"},
        {"ca", 0, 0, G_OPTION_ARG_FILENAME, &settings->ca, "with TLS; who signs plumbd's certificate, PEM", "FILE"},
        {"certificate", 0, 0, G_OPTION_ARG_FILENAME, &settings->certificate, "log in with this certificate, PEM",
         "FILE"},
        {"key", 0, 0, G_OPTION_ARG_FILENAME, &settings->key, "and its key, PEM, which only you may read", "FILE"},
        {"token-file", 0, 0, G_OPTION_ARG_FILENAME, &settings->token_file,
         "log in with the token in it, which only you may read ($PLUMB_TOKEN_FILE)", "FILE"},
        {"negotiate", 0, 0, G_OPTION_ARG_NONE, &settings->negotiate, "log in with your ticket of Kerberos (kinit)",
         NULL},
        {"follow", 'f', 0, G_OPTION_ARG_NONE, &settings->follow,
         "go on when logs grow and new ones appear, until interrupted", NULL},
        {"state", 's', 0, G_OPTION_ARG_FILENAME, &settings->state,
         "keep in FILE how far each log was read, and go on from there", "FILE"},
        {"check", 0, 0, G_OPTION_ARG_NONE, &settings->check, "only read, and say what is there: nothing is sent", NULL},
        {"json", 0, 0, G_OPTION_ARG_NONE, &settings->json, "the summary at the end as JSON", NULL},
        {"hdfs-user", 0, 0, G_OPTION_ARG_STRING, &settings->hdfs_user,
         "who reads webhdfs:// ($HADOOP_USER_NAME, else the user's name)", "USER"},
        {"hdfs-retry", 0, 0, G_OPTION_ARG_INT, &settings->retry_s,
         "how long an HDFS that does not answer is asked again (60)", "SECONDS"},
        {"interval", 0, 0, G_OPTION_ARG_INT, &settings->interval_s, "how often HDFS is looked at with --follow (2)",
         "SECONDS"},
        {"host", 0, 0, G_OPTION_ARG_STRING, &settings->host, "samples: of this host, whatever the log says", "NAME"},
        {"zone", 0, 0, G_OPTION_ARG_STRING, &settings->zone,
         "samples: the zone of clocks whose logs name none, as UTC, +02:00, Asia/Shanghai", "ZONE"},
        {"date", 0, 0, G_OPTION_ARG_STRING, &settings->date, "samples: of the log's begin, as 2026-11-21", "DATE"},
        {"day-first", 0, 0, G_OPTION_ARG_NONE, &settings->day_first, "samples: 10/11/2026 is in November", NULL},
        {"since", 0, 0, G_OPTION_ARG_STRING, &settings->since,
         "samples without times: when the first report was made, as 2026-11-21T10:00:00Z", "TIME"},
        {"every", 0, 0, G_OPTION_ARG_INT, &settings->every_s, "samples without times: between reports (1)", "SECONDS"},
        {"operations", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &settings->operations,
         "an operation log (rules of Byteman), of --app; may be given again", "FILE"},
        {"executor-log", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &settings->executor_logs,
         "an executor's log, for the splits that its tasks read, of --app; may be given again", "FILE"},
        {"app", 0, 0, G_OPTION_ARG_STRING, &settings->app, "the application that these are of", "ID"},
        {"executor", 0, 0, G_OPTION_ARG_STRING, &settings->executor, "and the executor", "ID"},
        {"version", 0, 0, G_OPTION_ARG_NONE, &settings->version, "say the version", NULL},
        {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &settings->paths, NULL, "PATH..."},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL}};

    GOptionContext *context = g_option_context_new(NULL);
    g_option_context_add_main_entries(context, entries, NULL);
    g_option_context_set_summary(
        context, "Reads Spark event logs and sends what they say of applications, stages and tasks to plumbd.");
    g_option_context_set_description(
        context, "A PATH is a log (plain, zstd, lz4, snappy, lzf, growing), a rolling one (eventlog_v2_...), or a\n"
                 "history folder of these, here or in HDFS: webhdfs://NAMENODE:9870/spark-history. Sending a log\n"
                 "again changes nothing. Logs of sysstat (mpstat, iostat, sar, sadf), named one by one, give samples\n"
                 "of hosts. Exit codes: 0 done, 1 something could not be read or sent, 2 wrong\n"
                 "command line.\n\n"
                 "  plumb-bridge /var/spark-history\n"
                 "  plumb-bridge --follow --state /var/lib/plumb-bridge.json webhdfs://nn1:9870/spark-history\n"
                 "  plumb-bridge --check --json app-20260101120000-0001.zstd\n");

    const gboolean done = g_option_context_parse(context, argc, argv, error);
    g_option_context_free(context);
    return done;
}

static gboolean check(const Settings *settings, GError **error) {
    if (settings->version) return TRUE;
    if (settings->paths == NULL && settings->operations == NULL && settings->executor_logs == NULL)
        return fail(error, PLUMB_ERROR_CONFIG,
                    "read what? Name event logs or the folder they lie in (spark.eventLog.dir)");
    const char *port = settings->receiver != NULL ? strrchr(settings->receiver, ':') : NULL;
    if (settings->receiver != NULL && (port == NULL || port == settings->receiver || port[1] == '\0'))
        return fail(error, PLUMB_ERROR_CONFIG,
                    "'%s' is no address of plumbd: give --receiver HOST:PORT, for example " DEFAULT_RECEIVER,
                    settings->receiver);
    if (settings->check && settings->follow)
        return fail(error, PLUMB_ERROR_CONFIG, "--check reads once: leave --follow out");
    if (settings->check && settings->state != NULL)
        return fail(error, PLUMB_ERROR_CONFIG, "--check sends nothing, so no position is kept: leave --state out");
    if (settings->interval_s < 1 || settings->interval_s > 3600)
        return fail(error, PLUMB_ERROR_CONFIG, "--interval takes 1 to 3600 seconds");
    if (settings->retry_s < 0 || settings->retry_s > 86400)
        return fail(error, PLUMB_ERROR_CONFIG, "--hdfs-retry takes 0 to 86400 seconds");
    return TRUE;
}

static gboolean start_samples(Program *program, GError **error) {
    const Settings *settings = &program->settings;
    SampleLogsOptions options = {.samples = SAMPLE_OPTIONS_NONE,
                                 .storage = program->storage,
                                 .deliver = deliver,
                                 .stopped = stopped,
                                 .arg = program,
                                 .follow = settings->follow};

    options.samples.host = settings->host;
    options.samples.zone = settings->zone;
    options.samples.date = settings->date;
    if (settings->day_first) options.samples.order = DATE_DAY_FIRST;

    if (settings->since != NULL) {
        g_autoptr(GTimeZone) utc = g_time_zone_new_utc();
        g_autoptr(GDateTime) since = g_date_time_new_from_iso8601(settings->since, utc);
        if (since == NULL)
            return fail(error, PLUMB_ERROR_CONFIG, "--since \"%s\": write it as 2026-11-21T10:00:00Z", settings->since);
        options.samples.start_ns = g_date_time_to_unix(since) * NS_PER_SEC;
        options.samples.interval_ns = MAX(settings->every_s, 1) * NS_PER_SEC;
    }

    program->samples = sample_logs_new(&options, error);
    return program->samples != NULL;
}

static const char *token_file_of(const Settings *settings) {
    if (settings->token_file != NULL) return settings->token_file;
    const char *file = g_getenv("PLUMB_TOKEN_FILE");
    return file != NULL && *file != '\0' ? file : NULL;
}

static gboolean start(Program *program, GError **error) {
    const Settings *settings = &program->settings;
    program->watch = watch_new(error);
    if (program->watch == NULL) return FALSE;
    program->positions = positions_open(settings->state, error);
    if (program->positions == NULL) return FALSE;

    const StorageOptions storage = {settings->hdfs_user, (guint)settings->retry_s * 1000, stopped, tell_waiting,
                                    program};
    program->storage = storage_new(&storage);
    const BridgeSenderOptions sender = {
        settings->receiver != NULL ? settings->receiver : DEFAULT_RECEIVER,
        {settings->ca, settings->certificate, settings->key, token_file_of(settings), settings->negotiate},
        settings->follow,
        stopped,
        say,
        program};
    if (!settings->check) program->sender = bridge_sender_new(&sender);
    const BridgeOptions bridge = {
        program->storage, program->positions, deliver, stopped, say, settings->follow ? watch : NULL,
        program,          settings->follow};
    program->bridge = bridge_new(&bridge);
    return start_samples(program, error);
}

static gboolean sender_failed(const Program *program) {
    return program->sender != NULL && bridge_sender_sent(program->sender).failed;
}

/* A path that cannot be looked at is said once; FALSE when there is no use in going on. */
static gboolean read_path(Program *program, const char *path) {
    g_autoptr(GError) error = NULL;
    const gboolean samples = sample_logs_is(program->samples, path);
    if (samples ? sample_logs_read(program->samples, path, &error) : bridge_read(program->bridge, path, &error)) {
        g_hash_table_remove(program->said, path);
        return TRUE;
    }
    if (g_hash_table_add(program->said, (gpointer)path)) say(program, error->message);
    program->failed = TRUE;
    return !sender_failed(program) && !g_error_matches(error, PLUMB_ERROR, PLUMB_ERROR_NO_SPACE);
}

/* Once, before anything is followed. A log that cannot be read is said, and the others are read all the same. */
static void read_side_logs(Program *program) {
    const Settings *settings = &program->settings;
    const SideOptions options = {
        program->storage, settings->app, settings->executor, settings->host, settings->zone, deliver, stopped, say,
        program};
    char **const lists[] = {settings->operations, settings->executor_logs};
    const SideKind kinds[] = {SIDE_OPERATIONS, SIDE_EXECUTOR_LOG};
    for (guint i = 0; i < G_N_ELEMENTS(lists); i++) {
        for (char **path = lists[i]; path != NULL && *path != NULL; path++) {
            g_autoptr(GError) error = NULL;
            if (side_log_read(kinds[i], *path, &options, &error)) continue;
            say(program, error->message);
            program->side_failed = TRUE;
            if (sender_failed(program)) return;
        }
    }
}

static gboolean read_round(Program *program) {
    program->failed = FALSE;
    for (char **path = program->settings.paths; path != NULL && *path != NULL; path++) {
        if (watch_stopped(program->watch)) break;
        if (!read_path(program, *path)) return FALSE;
    }
    g_autoptr(GError) error = NULL;
    if (bridge_flush(program->bridge, &error)) return TRUE;
    say(program, error->message);
    program->failed = TRUE;
    return FALSE;
}

static guint pause_ms(const Settings *settings) {
    for (char **path = settings->paths; path != NULL && *path != NULL; path++)
        if (storage_is_remote(*path)) return (guint)settings->interval_s * 1000;
    return LOOK_EVERY_MS;
}

static void run(Program *program) {
    read_side_logs(program);
    if (sender_failed(program)) return;
    while (read_round(program)) {
        erase(program);
        if (!program->settings.follow || watch_stopped(program->watch)) return;
        watch_wait(program->watch, pause_ms(&program->settings));
        if (watch_stopped(program->watch)) return;
    }
}

/* Samples' logs are not in the summary of event logs: what became of each is said. */
static void tell_samples(void *arg, const SampleLogOutcome *outcome) {
    Program *program = arg;
    g_autofree char *text = sample_log_text(outcome);
    say(program, text);
    if (outcome->counts.bad_lines > 0 || outcome->counts.without_time > 0) program->failed = TRUE;
}

static int conclude(Program *program) {
    const BridgeSent sent = program->sender != NULL ? bridge_sender_sent(program->sender) : (BridgeSent){0};
    const BridgeReport report = {program->bridge, program->sender != NULL ? &sent : NULL,
                                 clock_monotonic_ns(clock_system()) - program->begin_ns};
    erase(program);
    sample_logs_outcomes(program->samples, tell_samples, program);
    g_autofree char *text = program->settings.json ? bridge_report_json(&report) : bridge_report_text(&report);
    const gboolean written = fputs(text, stdout) >= 0 && fflush(stdout) == 0;
    if (!written) say(program, "cannot write the summary");
    return written && !program->failed && !program->side_failed && bridge_report_clean(&report) ? EXIT_DONE
                                                                                                : EXIT_FAILED;
}

static void program_clear(Program *program) {
    bridge_free(program->bridge);
    sample_logs_free(program->samples);
    bridge_sender_free(program->sender);
    storage_free(program->storage);
    positions_close(program->positions);
    watch_free(program->watch);
    if (program->said != NULL) g_hash_table_unref(program->said);
    settings_clear(&program->settings);
}

int bridge_main(int argc, char **argv) {
    setlocale(LC_CTYPE, "");
    Program program = {.settings = {.interval_s = 2, .retry_s = 60},
                       .terminal = isatty(STDERR_FILENO) == 1,
                       .begin_ns = clock_monotonic_ns(clock_system()),
                       .said = g_hash_table_new(g_str_hash, g_str_equal)};
    g_autoptr(GError) error = NULL;
    int exit_code = EXIT_USAGE;

    if (!parse(&argc, &argv, &program.settings, &error) || !check(&program.settings, &error)) {
        say(&program, error->message);
    } else if (program.settings.version) {
        puts("plumb-bridge " PLUMB_VERSION);
        exit_code = EXIT_DONE;
    } else if (!start(&program, &error)) {
        say(&program, error->message);
        exit_code = EXIT_FAILED;
    } else {
        run(&program);
        exit_code = conclude(&program);
    }

    program_clear(&program);
    return exit_code;
}
