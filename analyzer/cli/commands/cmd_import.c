#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/cli/commands/commands.h"
#include "analyzer/cli/commands/option_sets.h"
#include "analyzer/cli/import/importer.h"
#include "analyzer/cli/import/log_import.h"
#include "common/base/error.h"
#include "common/base/harmless.h"

static void say(void *arg, const char *what) {
    (void)arg;
    g_autofree char *line = harmless_line(what);
    fprintf(stderr, "plumb import: %s\n", line);
}

static gboolean flush(const Invocation *invocation, json_t *report, GError **error) {
    guint64 closed = 0;
    g_autoptr(Source) source = source_open(&invocation->source, error);
    if (source == NULL || !source_flush(source, &closed, error)) {
        g_prefix_error(error, "the spans are taken, but not asked to be stored now (--no-flush): ");
        return FALSE;
    }
    json_object_set_new(report, "closed_traces", json_integer((json_int_t)closed));
    return TRUE;
}

/* Imports every file, going on after one that fails unless plumbd itself is gone. The first error stays. */
static void import_files(const Invocation *invocation, Importer *importer, GError **error) {
    for (guint i = 0; i < invocation->n_arguments; i++) {
        GError *why = NULL;
        if (importer_file(importer, invocation->arguments[i], &why)) continue;
        gboolean of_file =
            g_error_matches(why, PLUMB_ERROR, PLUMB_ERROR_INPUT) || g_error_matches(why, PLUMB_ERROR, PLUMB_ERROR_IO);
        if (*error == NULL) {
            g_propagate_error(error, why);
        } else {
            g_error_free(why);
        }
        if (!of_file) return;
    }
}

static CliExit conclude(const Invocation *invocation, const Importer *importer, GError *error) {
    json_t *report = importer_report(importer);
    gboolean flushes = !option_flag(invocation, "no-flush") && !option_flag(invocation, "follow");
    gboolean sent = field_int(report, "spans_sent") > 0 || field_int(report, "records_sent") > 0;
    GError *flush_error = NULL;
    if (flushes && sent) flush(invocation, report, &flush_error);

    ShowOptions options = invocation_show_options(invocation);
    CliExit exit_code = invocation_print(invocation, report, show_import, &options);
    json_decref(report);

    if (error != NULL) {
        /* A damaged file (INPUT) is no mistake in the command line. */
        gboolean usage = g_error_matches(error, PLUMB_ERROR, PLUMB_ERROR_CONFIG);
        invocation_failed(invocation, error);
        exit_code = usage ? CLI_USAGE : CLI_FAILED;
    }

    if (flush_error != NULL) {
        invocation_failed(invocation, flush_error);
        exit_code = CLI_FAILED;
    }
    return exit_code == CLI_OK && !importer_clean(importer) ? CLI_FAILED : exit_code;
}

/* ---- event logs into a store ---- */

static gboolean import_logs(const Invocation *invocation, LogImport *import, GError **error) {
    for (guint i = 0; i < invocation->n_arguments; i++) {
        g_autoptr(GError) why = NULL;
        if (log_import_path(import, invocation->arguments[i], &why)) continue;
        if (*error != NULL) say(NULL, (*error)->message); /* the last one is said at the end */
        g_clear_error(error);
        g_propagate_error(error, g_steal_pointer(&why));
    }
    GError *unfinished = NULL;
    if (log_import_finish(import, &unfinished)) return *error == NULL;
    g_clear_error(error);
    g_propagate_error(error, unfinished);
    return FALSE;
}

/* Before a store is made for nothing. HDFS is asked later. */
static gboolean logs_are_there(const Invocation *invocation, GError **error) {
    for (guint i = 0; i < invocation->n_arguments; i++) {
        const char *path = invocation->arguments[i];
        if (strstr(path, "://") != NULL || access(path, F_OK) == 0) continue;
        return fail(error, PLUMB_ERROR_IO, "%s: %s", path,
                    errno == ENOENT ? "no such file or folder" : g_strerror(errno));
    }
    return TRUE;
}

static CliExit run_logs(Invocation *invocation) {
    if (option_flag(invocation, "follow"))
        return invocation_usage(invocation, "--store reads logs to their end: plumb-bridge "
                                            "--follow sends growing ones to plumbd");

    GError *error = NULL;
    if (!logs_are_there(invocation, &error)) return invocation_failed(invocation, error);

    g_autoptr(Progress) progress = progress_start(&invocation->style, "importing");
    const LogImportOptions options = {.store = invocation->source.store, .progress = progress, .say = say};
    g_autoptr(LogImport) import = log_import_new(&options, &error);
    const gboolean done = import != NULL && import_logs(invocation, import, &error);
    progress_stop(g_steal_pointer(&progress));
    if (import == NULL) return invocation_failed(invocation, error);

    json_t *report = log_import_report(import);
    ShowOptions show = invocation_show_options(invocation);
    CliExit exit_code = invocation_print(invocation, report, show_log_import, &show);
    json_decref(report);

    if (!done) {
        invocation_failed(invocation, error);
        return CLI_FAILED;
    }
    return exit_code == CLI_OK && !log_import_clean(import) ? CLI_FAILED : exit_code;
}

static CliExit check(const Invocation *invocation) {
    if (!option_flag(invocation, "follow")) return CLI_OK;
    if (invocation->n_arguments > 1)
        return invocation_usage(invocation, "--follow takes one file: start one command for each");
    if (strcmp(invocation->arguments[0], "-") == 0)
        return invocation_usage(invocation, "standard input is read until its end anyway: leave out --follow");
    return CLI_OK;
}

static CliExit import_run(Invocation *invocation) {
    if (invocation->source.store != NULL) return run_logs(invocation);
    CliExit exit_code = check(invocation);
    if (exit_code != CLI_OK) return exit_code;
    GError *error = NULL;
    g_autoptr(Progress) progress = progress_start(&invocation->style, "importing");
    ImportOptions options = {.thrift = option_text(invocation, "thrift"),
                             .security = &invocation->source.security,
                             .follow = option_flag(invocation, "follow"),
                             .progress = progress,
                             .say = say};
    g_autoptr(Importer) importer = importer_new(&options, &error);
    if (importer != NULL) import_files(invocation, importer, &error);
    progress_stop(g_steal_pointer(&progress));
    return importer != NULL ? conclude(invocation, importer, error) : invocation_failed(invocation, error);
}

static const Option options[] = {
    {"thrift", OPTION_TEXT, "HOST:PORT", NULL, "plumbd's port for spans", "127.0.0.1:9410"},
    {"follow", OPTION_FLAG, NULL, NULL,
     "go on when the file grows, also after truncation and rotation, until interrupted", NULL},
    {"no-flush", OPTION_FLAG, NULL, NULL, "leave it to plumbd when the traces are stored and can be seen", NULL},
    OPTION_THE_END,
};

const Command command_import = {
    .name = "import",
    .arguments = "FILE...",
    .min_arguments = 1,
    .max_arguments = G_MAXUINT,
    .missing = "import what? Name files of HTrace JSON, or - for standard input; with --store event logs of Spark",
    .summary = "send HTrace 4 or 3 JSON to plumbd; with --store, read event logs of Spark into a store",
    .about =
        "Reads spans as HTrace 4 or 3 writes them (any number of JSON values on a line) and sends them to plumbd;\n"
        "spans that are there already change nothing. Records of "
        "Spark among them, as plumb export writes them, are sent\n"
        "too. gzip and zstd are told by their first bytes. Then has plumbd\n"
        "store them (at --server), so that they can be seen. The exit code is 1 when a value could not be read or a\n"
        "span was refused; all others are sent all the same.\n"
        "With --store DIR (made when it is not there) files are event logs of Spark, or folders of them, and go\n"
        "straight into the store, with no plumbd: then all that 'plumb apps' and the others say can be asked of it.",
    .example = "  plumb import /tmp/htrace.out\n"
               "  plumb import spans-*.json.zst --json\n"
               "  ssh dn1 cat htrace.out | plumb import -\n"
               "  plumb import --follow /var/log/hadoop/htrace.out\n"
               "  plumb import --store spark-logs /var/spark-history && plumb apps --store spark-logs\n",
    .options = options,
    .run = import_run,
};
