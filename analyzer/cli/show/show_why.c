/* Why tasks were slow. */
#include <string.h>

#include "analyzer/cli/format/paragraph.h"
#include "analyzer/cli/format/text.h"
#include "analyzer/cli/format/units.h"
#include "analyzer/cli/show/show.h"
#include "analyzer/cli/show/why_ledger.h"
#include "analyzer/cli/show/why_text.h"
#include "common/base/clock.h"

#define EVENT_LOG_NS NS_PER_MS /* event logs count in milliseconds */

typedef struct Out {
    const Style *style;
    GString *text;
} Out;

static char *duration(const Out *out, double ns) { return unit_duration(out->style, ns, 1); }

/* Broken to the width. */
static void show_line(const Out *out, guint indent, Colour colour, const char *text) {
    g_autoptr(GString) lines = g_string_new(NULL);
    paragraph_append_hanging(out->style, indent, text, lines);
    style_append(out->style, colour, lines->str, out->text);
}

static void show_spell(const Out *out, const json_t *suspect) {
    g_autofree char *spell = why_spell(out->style, suspect);
    if (spell[0]) show_line(out, 4, COLOUR_NONE, spell);
}

/* ---- stages that are slow for everybody ---- */

/* "Earlier runs (3) took 800 ms, this one 4.70 s." */
static void show_earlier(const Out *out, const json_t *stage) {
    const json_t *earlier = field_object(stage, "earlier");
    if (!earlier) return;
    g_autofree char *then = unit_duration(out->style, field_number(earlier, "median_ns"), EVENT_LOG_NS);
    g_autofree char *now = unit_duration(out->style, field_number(stage, "median_ns"), EVENT_LOG_NS);
    g_autofree char *runs = show_count(field_number(earlier, "runs"), "earlier run", "earlier runs");
    g_autofree char *line = g_strdup_printf("the median of its tasks is %s; in %s it was %s", now, runs, then);
    show_line(out, 2, COLOUR_NONE, line);
}

static char *share_text(const json_t *stage, const char *field) {
    return g_strdup_printf("%.0f %%", 100 * field_number(stage, field) / MAX(field_number(stage, "duration_ns"), 1));
}

/* Whom they wait for, and how much of their time. A new string. */
static char *waits_text(const Out *out, const json_t *stage, const json_t *suspect) {
    const json_t *split = field_object(stage, "split"), *waited = split ? split : suspect;
    const double all_ns = MAX(field_number(stage, "duration_ns"), 1);
    g_autofree char *who = split ? why_whose(out->style, suspect) : why_whom(out->style, suspect);
    g_autofree char *parts = split ? why_split(out->style, field_object(split, "resources_ns"), all_ns) : NULL;
    g_autofree char *function = show_text(out->style, suspect, "function"), *usual = why_times(suspect);
    return g_strdup_printf("%s: %.0f %% of their time (%s%s%s%s)", who, 100 * field_number(waited, "time_ns") / all_ns,
                           parts ? parts : "", parts ? "; " : "", function, usual);
}

/* What all of the stage wait for. A new string. */
static char *stage_text(const Out *out, const json_t *stage) {
    const json_t *suspect = field_object(stage, "suspect"), *earlier = field_object(stage, "earlier");
    g_autofree char *hdfs = share_text(stage, "time_ns");
    if (suspect) {
        const double read = field_number(stage, "tasks_read"), waiting = field_number(stage, "tasks_waiting");
        g_autofree char *tasks = waiting < read ? g_strdup_printf("%.0f of %.0f tasks looked at wait", waiting, read)
                                                : g_strdup("all its tasks wait");
        g_autofree char *what = waits_text(out, stage, suspect);
        return g_strdup_printf("%s for %s", tasks, what);
    }

    if (field_true(stage, "many_files")) {
        const double files = field_number(stage, "files");
        g_autofree char *count = unit_count(files / MAX(field_number(stage, "tasks_read"), 1));
        g_autofree char *size = unit_bytes(field_number(stage, "bytes") / MAX(files, 1));
        g_autofree char *namenode = share_text(stage, "namenode_ns");
        return g_strdup_printf(
            "small files: each task opened or made %s, of %s; the NameNode, which is asked for each, "
            "has %s of their time",
            count, size, namenode);
    }

    return g_strdup_printf("%.1f times slower than in earlier runs; HDFS is %s of its time",
                           earlier ? field_number(earlier, "times") : 0, hdfs);
}

static void show_slow_stages(const Out *out, const json_t *stages) {
    gsize i;
    const json_t *stage;
    json_array_foreach((json_t *)stages, i, stage) {
        g_autofree char *what = stage_text(out, stage);
        g_autofree char *of = show_stage_text(out->style, stage);
        g_autofree char *line = g_strdup_printf("%s: %s", of, what);
        show_line(out, 0, COLOUR_RED, line);
        if (field_object(stage, "suspect")) show_spell(out, field_object(stage, "suspect"));
        show_earlier(out, stage);
    }
}

/* ---- the application ---- */

/* Tasks without traces are not explained, and it takes a setting to have them. */
static void show_untraced(const Out *out, const json_t *document) {
    const json_t *links = field_object(document, "tasks_by_link");
    const double tasks = field_number(document, "tasks"), none = links ? field_number(links, "none") : 0;
    if (none <= 0 || tasks <= 0) return;
    g_autofree char *count = unit_count(none), *all = show_count(tasks, "task has", "tasks have");
    if (none >= tasks) {
        show_line(out, 0, COLOUR_NONE,
                  "No task has a trace: what HDFS did for them is not known. The agent must be in the executors, and "
                  "take tasks:");
        show_line(out, 0, COLOUR_NONE, "sampling = SparkTask=always; 1/s in its settings (docs/spark.md)");
        return;
    }
    g_autofree char *line = g_strdup_printf(
        "%s of %s no trace, as they were not sampled: what HDFS did for them is not known. To trace all,", count, all);
    show_line(out, 0, COLOUR_NONE, line);
    show_line(out, 0, COLOUR_NONE,
              "sampling = SparkTask=always; 1/s in the agents' settings, or senders.sampling in plumbd.conf");
}

static void show_may_change(const Out *out, const json_t *document) {
    const char *why = field_text(document, "may_change");
    if (strcmp(why, "running") == 0) {
        g_string_append(out->text, "It still runs: the answer will change.\n");
    } else if (strcmp(why, "recent") == 0) {
        g_autofree char *left = unit_age(field_number(document, "final_in_ns"));
        g_autofree char *line = g_strdup_printf(
            "Its last records have just come, and spans may follow: the answer may change for another %s.", left);
        show_line(out, 0, COLOUR_NONE, line);
    }
}

/* DataNodes that did not answer while it ran: who waits for one is not seen to wait for it. */
static void show_silent(const Out *out, const json_t *list) {
    gsize i;
    const json_t *silent;
    json_array_foreach((json_t *)list, i, silent) {
        g_autofree char *who = why_silent(out->style, silent);
        g_autofree char *waited = unit_duration(out->style, field_number(silent, "waited_ns"), EVENT_LOG_NS);
        g_autofree char *line = g_strdup_printf("%s. All who read and write waited %s for it.", who, waited);
        show_line(out, 0, COLOUR_RED, line);
    }
}

static void show_head(const Out *out, const json_t *document) {
    g_autofree char *app = show_text(out->style, document, "app"), *name = show_text(out->style, document, "name");
    g_autofree char *tasks = show_count(field_number(document, "tasks"), "task", "tasks");
    g_autofree char *all = show_count(field_number(document, "stragglers_total"), "straggler", "stragglers");
    g_autoptr(GString) line = g_string_new(NULL);
    if (name[0]) g_string_append_printf(line, "%s, ", name);
    g_string_append_printf(line, "%s: %s, %s", app, tasks, all);
    if (field_int(document, "stragglers_total") > 0) {
        g_autofree char *known = unit_count(field_number(document, "explained"));
        g_autofree char *without = unit_count(field_number(document, "explained_without_hdfs"));
        g_string_append_printf(line, ", %s with a known cause (%s without traces of HDFS)", known, without);
    }
    show_line(out, 0, COLOUR_NONE, line->str);
}

/* The costliest first. What cost less than a hundredth of it would hide it, and is told in one line. */
static void show_suspects(const Out *out, const json_t *list) {
    const double least_ns = 0.01 * field_number(json_array_get(list, 0), "explains_ns");
    double others_ns = 0;
    guint others = 0;
    gsize i;
    const json_t *suspect;
    if (json_array_size(list) > 0) g_string_append(out->text, "\nWaited for most:\n");
    json_array_foreach((json_t *)list, i, suspect) {
        if (field_number(suspect, "explains_ns") < least_ns) {
            others_ns += field_number(suspect, "explains_ns"), others++;
            continue;
        }
        g_autofree char *who = why_whom(out->style, suspect), *function = show_text(out->style, suspect, "function");
        g_autofree char *tasks = show_count(field_number(suspect, "tasks"), "task", "tasks");
        g_autofree char *cost = duration(out, field_number(suspect, "explains_ns"));
        g_autofree char *since = unit_time(field_int(suspect, "since_time_ns"), EVENT_LOG_NS);
        g_autofree char *line =
            g_strdup_printf("%s: %s slower by %s in all since %s (%s)", who, tasks, cost, since, function);
        show_line(out, 2, COLOUR_BOLD, line);
        show_spell(out, suspect);
    }
    if (others == 0) return;
    g_autofree char *count = show_count(others, "other", "others");
    g_autofree char *cost = duration(out, others_ns);
    g_string_append_printf(out->text, "  %s: %s in all\n", count, cost);
}

/* What was waited for in a function; time for which nobody is seen to work is no network's. */
static char *sum_resource(const Out *out, const json_t *row) {
    const gboolean nobody =
        strcmp(field_text(row, "resource"), "network") == 0 && strcmp(field_text(row, "role"), "local") == 0;
    return nobody ? g_strdup("unexplained") : show_text(out->style, row, "resource");
}

/* The share of the tasks' time that was HDFS, and the functions that took most of it. */
static void show_sum(const Out *out, const json_t *sum) {
    enum { SHOWN = 3 };
    const double all_ns = sum ? field_number(sum, "duration_ns") : 0;
    if (all_ns <= 0) return;
    g_autofree char *tasks = show_count(field_number(sum, "tasks"), "task", "tasks");
    g_autoptr(GString) line = g_string_new(NULL);
    g_string_append_printf(line, "HDFS: %.0f %% of the time of %s whose traces were read",
                           100 * field_number(sum, "time_ns") / all_ns, tasks);
    const char *separator = ": ";
    gsize i;
    const json_t *row;
    json_array_foreach((json_t *)field_list(sum, "functions"), i, row) {
        if (i == SHOWN) break;
        g_autofree char *function = show_text(out->style, row, "function");
        g_autofree char *resource = sum_resource(out, row);
        g_string_append_printf(line, "%s%s %.0f %% (%s)", separator, function,
                               100 * field_number(row, "time_ns") / all_ns, resource);
        separator = ", ";
    }
    show_line(out, 0, COLOUR_NONE, line->str);
}

/* ---- one straggler ---- */

static void show_task(const Out *out, const json_t *row) {
    g_autofree char *host = show_text(out->style, row, "host"), *executor = show_text(out->style, row, "executor");
    g_autofree char *took = unit_duration(out->style, field_number(row, "duration_ns"), EVENT_LOG_NS);
    g_autofree char *median = unit_duration(out->style, field_number(row, "stage_median_ns"), EVENT_LOG_NS);
    g_autofree char *begin = unit_time(field_int(row, "begin_time_ns"), EVENT_LOG_NS);
    g_autofree char *stage = show_stage_text(out->style, row);
    g_autofree char *line = g_strdup_printf("%s, task %" G_GINT64_FORMAT " (partition %" G_GINT64_FORMAT
                                            ") on %s, executor %s, %s: %s, %.1f times the median %s%s",
                                            stage, field_int(row, "task"), field_int(row, "partition"), host, executor,
                                            begin, took, field_number(row, "scale"), median,
                                            strcmp(field_text(row, "status"), "running") == 0 ? ", still running" : "");
    g_string_append_c(out->text, '\n');
    show_line(out, 0, COLOUR_BOLD, line);
}

static void show_suspect(const Out *out, const json_t *suspect, const json_t *hdfs) {
    g_autofree char *function = show_text(out->style, suspect, "function");
    g_autofree char *calls = show_count(field_number(suspect, "calls"), "call", "calls");
    g_autofree char *total = duration(out, field_number(suspect, "calls_total_ns"));
    g_autofree char *longest = duration(out, field_number(suspect, "longest_call_ns"));
    g_autofree char *line =
        g_strdup_printf("%s, in this task: %s, %s in all, the longest %s", function, calls, total, longest);
    show_line(out, 4, COLOUR_NONE, line);
    why_normals(out->style, suspect, out->text);
    if (json_array_size(field_list(suspect, "path")) > 0) why_path(out->style, field_list(suspect, "path"), out->text);
    g_autofree char *trace = show_text(out->style, hdfs, "trace");
    g_string_append_printf(out->text, "    the whole: plumb trace %s\n", trace);
}

/* What a topic's cause means, where it is not HDFS. */
static const char *topic_text(const char *feature, const char *topic) {
    static const char *const texts[][2] = {
        {"read_bytes", "it read more than its peers"},
        {"shuffle_read_bytes", "it fetched more of the shuffle than its peers: skewed keys"},
        {"shuffle_write_bytes", "it wrote more of the shuffle than its peers"},
        {"executor_start", "JVM start: it was one of the first tasks of the stage on its executor, where classes "
                           "are loaded and code is compiled"},
        {"processor", "it computed longer than its peers, over as much data"},
        {"processor_wait", "it waited for a processor of its host"},
        {"gc", "garbage collection in its executor"},
        {"shuffle_wait", "it waited for blocks of the shuffle"},
        {"shuffle_write", "writing its shuffle to the disk of its host"},
        {"hdfs_sleep",
         "HDFS: its client slept: a file's last block was reported late, or a call had to be tried again"},
        {"deserialize", "deserializing the task: its closure, or broadcast variables"},
        {"serialize", "serializing its result"},
        {"result", "its result was long on its way to the driver"},
        {"scheduler", "it waited to begin, or for the driver to hear of its end"},
        {"data", "it had more data than its peers"},
        {"jvm_gc_time", "garbage collection in its executor"},
        {"serialize_time", "serializing its result"},
        {"deserialize_time", "deserializing the task: its closure, or broadcast variables"},
        {"spill", "it spilled more than its peers: too little memory for its data"},
        {"locality", "its data was not local, as that of its peers was"},
        {"cpu", "the processors of its host were busy with something else"},
        {"disk", "a disk of its host was busy with something else"},
        {"network", "the network of its host was busy with something else"}};
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++)
        if (strcmp(feature, texts[i][0]) == 0 || strcmp(topic, texts[i][0]) == 0) return texts[i][1];
    return feature;
}

/* "HDFS: the disk of DataNode datanode2", "garbage collection in its executor". */
static char *cause_text(const Out *out, const json_t *main) {
    const json_t *suspect = field_object(main, "suspect");
    if (!suspect) return text_clean(out->style, topic_text(field_text(main, "feature"), field_text(main, "topic")));
    g_autofree char *who = why_whom(out->style, suspect);
    return g_strdup_printf("HDFS: %s", who);
}

static void show_main(const Out *out, const json_t *row) {
    const json_t *main = field_object(row, "main_cause"), *suspect = main ? field_object(main, "suspect") : NULL;
    if (!main) {
        style_append(out->style, COLOUR_YELLOW, "  no cause found\n", out->text);
        return;
    }
    g_autofree char *explains = duration(out, field_number(main, "explains_ns"));
    g_autofree char *excess = unit_duration(out->style, field_number(main, "excess_ns"), EVENT_LOG_NS);
    g_autofree char *cause = cause_text(out, main);
    g_autofree char *line = field_int(main, "explains_ns") > 0
                                ? g_strdup_printf("%s (%s of the %s that it took longer)", cause, explains, excess)
                                : g_strdup(cause);
    show_line(out, 2, COLOUR_RED, line);
    if (suspect) show_suspect(out, suspect, field_object(row, "hdfs"));
}

static void show_hdfs(const Out *out, const json_t *row) {
    const json_t *hdfs = field_object(row, "hdfs"), *resources;
    if (!hdfs) {
        g_string_append(out->text, "  HDFS: no traces of this task\n");
        return;
    }

    g_autofree char *all = duration(out, field_number(hdfs, "time_ns"));
    g_autofree char *link = show_text(out->style, hdfs, "link");
    const double task_ns = field_number(row, "duration_ns");
    g_autoptr(GString) line = g_string_new(NULL);
    g_string_append_printf(line, "HDFS: %s", all);
    if (task_ns > 0)
        g_string_append_printf(line, ", %.0f %% of the task", 100 * field_number(hdfs, "time_ns") / task_ns);
    g_string_append_printf(line, " (link: %s", link);
    if (field_number(hdfs, "confidence") < 1)
        g_string_append_printf(line, ", confidence %.2f", field_number(hdfs, "confidence"));
    g_string_append(line, ")");

    const char *name, *separator = ": ";
    json_t *value;
    resources = field_object(hdfs, "resources_ns");
    if (resources) {
        json_object_foreach((json_t *)resources, name, value) {
            if (json_number_value(value) <= 0) continue;
            g_autofree char *part = duration(out, json_number_value(value));
            g_autofree char *resource = text_clean(out->style, name);
            g_string_append_printf(line, "%s%s %s", separator, resource, part);
            separator = ", ";
        }
    }

    show_line(out, 2, COLOUR_NONE, line->str);
}

/* The task that was asked for, and is no straggler. */
static void show_ordinary(const Out *out, const json_t *row) {
    if (!row) return;
    const json_t *suspect = field_object(row, "suspect");
    show_task(out, row);
    g_string_append(out->text, "  no straggler: it took less than 1.5 times the median, or did not end well\n");
    if (suspect) {
        g_autofree char *who = why_whom(out->style, suspect), *usual = why_times(suspect);
        g_autofree char *time = duration(out, field_number(suspect, "time_ns"));
        g_autofree char *line = g_strdup_printf("what it waited for most: %s, %s%s", who, time, usual);
        show_line(out, 2, COLOUR_NONE, line);
        show_suspect(out, suspect, field_object(row, "hdfs"));
    }
    why_ledger_table(out->style, field_object(row, "ledger"), out->text);
    show_hdfs(out, row);
}

/* A figure in the unit of its feature: of times a share of the task, of amounts multiples of the stage's mean. */
static char *figure(const Out *out, const json_t *cause, double value) {
    const char *kind = field_text(cause, "kind"), *unit = field_text(cause, "unit");
    if (strcmp(kind, "wait") == 0) return duration(out, value * 1e6);
    if (strcmp(kind, "time") == 0 || strcmp(unit, "share") == 0) return g_strdup_printf("%.1f %%", 100 * value);
    if (strcmp(kind, "numeric") == 0) return g_strdup_printf("%.2f x", value);
    if (strcmp(unit, "bytes/s") == 0) return unit_bytes_per_s(value);
    return g_strdup_printf("%.0f", value);
}

static char *measured(const Out *out, const json_t *cause) {
    const char *unit = field_text(cause, "unit");
    double value = field_number(cause, "measured");
    if (strcmp(unit, "ms") == 0) return duration(out, value * 1e6);
    if (strcmp(unit, "bytes") == 0) return unit_bytes(value);
    if (strcmp(unit, "bytes/s") == 0) return unit_bytes_per_s(value);
    if (strcmp(unit, "share") == 0) return g_strdup_printf("%.1f %%", 100 * value);
    return g_strdup_printf("%.0f", value);
}

static char *peers_text(const Out *out, const json_t *cause, const char *field) {
    const json_t *peers = field_object(cause, field);
    if (!peers || field_int(peers, "tasks") == 0) return g_strdup("-");
    const char *of = field_present(peers, "median") ? "median" : "mean";
    return figure(out, cause, field_number(peers, of));
}

static void show_causes(const Out *out, const json_t *row) {
    static const TableColumn columns[] = {{"  cause", TRUE, 12, 0},   {"measured", FALSE, 0, 0},
                                          {"compared", FALSE, 0, 0},  {"peers elsewhere", FALSE, 0, 0},
                                          {"same host", FALSE, 0, 0}, {"verdict", TRUE, 0, 0}};
    static const char *const lists[] = {"causes", "near"};

    g_autoptr(Table) table = table_new(out->style, columns, G_N_ELEMENTS(columns));
    for (gsize k = 0; k < G_N_ELEMENTS(lists); k++) {
        gsize i;
        const json_t *cause;
        json_array_foreach((json_t *)field_list(row, lists[k]), i, cause) {
            g_autofree char *feature = show_text(out->style, cause, "feature");
            table_cell(table, g_strdup_printf("  %s", feature), k == 0 ? COLOUR_NONE : COLOUR_DIM);
            table_cell(table, measured(out, cause), COLOUR_NONE);
            table_cell(table, figure(out, cause, field_number(cause, "value")), COLOUR_NONE);
            table_cell(table, peers_text(out, cause, "other_hosts"), COLOUR_NONE);
            table_cell(table, peers_text(out, cause, "same_host"), COLOUR_NONE);
            table_cell(table, show_text(out->style, cause, "verdict"), COLOUR_NONE);
        }
    }

    if (table_rows(table) > 0) table_print(table, out->text);
}

void show_why(const json_t *document, const ShowOptions *options, GString *text) {
    const Out out = {&options->style, text};
    const gboolean by_ledger = strcmp(field_text(document, "method"), "ledger") == 0;
    gsize i;
    const json_t *row;
    show_slow_stages(&out, field_list(document, "stages"));
    show_head(&out, document);
    show_may_change(&out, document);

    show_silent(&out, field_list(document, "silent"));
    show_exclusions(out.style, document, out.text);
    show_untraced(&out, document);
    show_sum(&out, field_object(document, "hdfs"));
    show_suspects(&out, field_list(document, "suspects"));
    why_what_if(out.style, field_list(document, "what_if"), out.text);
    json_array_foreach((json_t *)field_list(document, "stragglers"), i, row) {
        show_task(&out, row);
        why_ledger(out.style, field_object(row, "ledger"), out.text);
        show_main(&out, row);
        show_hdfs(&out, row);
        if (!options->brief && by_ledger) why_ledger_table(out.style, field_object(row, "ledger"), out.text);
        if (!options->brief && !by_ledger) show_causes(&out, row);
    }
    show_ordinary(&out, field_object(document, "task"));
    if (field_true(document, "more"))
        g_string_append_printf(text, "\n%zu shown: --limit N shows more (0: all)\n",
                               json_array_size(field_list(document, "stragglers")));
}

void show_straggler_line(const json_t *app, const json_t *row, const Style *style, GString *text) {
    const Out out = {style, text};
    const json_t *main = field_object(row, "main_cause");
    g_autofree char *name = show_text(style, app, "app"), *host = show_text(style, row, "host");
    g_autofree char *took = unit_duration(style, field_number(row, "duration_ns"), EVENT_LOG_NS);
    g_autofree char *median = unit_duration(style, field_number(row, "stage_median_ns"), EVENT_LOG_NS);
    g_autofree char *cause = main ? cause_text(&out, main) : g_strdup("no cause seen yet");
    g_string_append_printf(text,
                           "%s stage %" G_GINT64_FORMAT ".%" G_GINT64_FORMAT " task %" G_GINT64_FORMAT
                           " on %s runs for %s, %.1f times the median %s: ",
                           name, field_int(row, "stage"), field_int(row, "stage_attempt"), field_int(row, "task"), host,
                           took, field_number(row, "scale"), median);
    style_append(style, main ? COLOUR_RED : COLOUR_YELLOW, cause, text);
    g_string_append_c(text, '\n');
}
