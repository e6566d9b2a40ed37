/* How often each kind of link is right: bench_links STORE APP TRUTH. TRUTH has a line a trace: its id in hexadecimal,
 * the task attempt that it served, and its nanoseconds. (bench/links makes all three.) */
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/archive/spark/spark.h"
#include "analyzer/query/spark/tasks/task_hdfs.h"
#include "analyzer/query/spark/tasks/task_links.h"

typedef struct Truth {
    guint64 trace;
    gint64 task;
    double ns;
    guint n;           /* candidates found */
    double right, sum; /* confidence of the right one, of all */
} Truth;

/* Traces, and their time. */
typedef struct Share {
    double count, ns;
} Share;

typedef struct Score {
    Share all, linked, exact, among, wrong, used;
    double confidence; /* sum over linked of the first candidate's, as all are equal */
    Share claimed[LINK_CANDIDATES_MAX + 1], held[LINK_CANDIDATES_MAX + 1]; /* by number of candidates */
    guint nobodys;                                                         /* traces linked that served no task */
} Score;

static void die(const char *text) {
    fprintf(stderr, "bench_links: %s\n", text);
    exit(1);
}

static void check(const GError *error) {
    if (error) die(error->message);
}

static GHashTable *read_truth(const char *path) {
    g_autofree char *text = NULL;
    g_autoptr(GError) error = NULL;
    g_file_get_contents(path, &text, NULL, &error);
    check(error);
    GHashTable *truths = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, g_free);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line && **line; line++) {
        char *task, *ns;
        Truth *truth = g_new0(Truth, 1);
        truth->trace = g_ascii_strtoull(*line, &task, 16);
        truth->task = g_ascii_strtoll(task, &ns, 10);
        truth->ns = (double)g_ascii_strtoll(ns, NULL, 10);
        if (task == *line || ns == task) die("a line of the truth is no \"trace task nanoseconds\"");
        g_hash_table_replace(truths, &truth->trace, truth);
    }
    return truths;
}

static void clear(GHashTable *truths) {
    GHashTableIter iter;
    gpointer value;
    g_hash_table_iter_init(&iter, truths);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        Truth *truth = value;
        truth->n = 0;
        truth->right = truth->sum = 0;
    }
}

static void add(Share *share, const Truth *truth) {
    share->count++;
    share->ns += truth->ns;
}

static void judge(Score *score, const Truth *truth) {
    add(&score->all, truth);
    if (truth->n == 0) return;
    const guint n = MIN(truth->n, LINK_CANDIDATES_MAX);
    add(&score->linked, truth);
    add(&score->claimed[n], truth);
    score->confidence += truth->sum / truth->n;
    if (truth->n * LINK_CONFIDENCE_MIN <= 1) add(&score->used, truth);
    if (truth->right > 0) add(&score->held[n], truth);
    if (truth->right <= 0)
        add(&score->wrong, truth);
    else
        add(truth->n == 1 ? &score->exact : &score->among, truth);
}

static void score_kinds(Archive *archive, const LinkAsk *ask, GHashTable *truths, Score *score) {
    g_autoptr(SparkRecords) links = spark_records_new();
    g_autoptr(GHashTable) nobodys = g_hash_table_new(g_int64_hash, g_int64_equal);
    g_autoptr(GError) error = NULL;

    clear(truths);
    task_links_find(archive, ask, links, &error);
    check(error);

    for (guint i = 0; i < links->of[SPARK_LINK]->len; i++) {
        const SparkLink *link = spark_link(links, i);
        Truth *truth = g_hash_table_lookup(truths, &link->trace);
        if (!truth) {
            g_hash_table_add(nobodys, (gpointer)&link->trace);
            continue;
        }
        truth->n++;
        truth->sum += link->confidence;
        if (link->task == truth->task) truth->right = link->confidence;
    }

    GHashTableIter iter;
    gpointer value;
    g_hash_table_iter_init(&iter, truths);
    while (g_hash_table_iter_next(&iter, NULL, &value)) judge(score, value);
    score->nobodys = g_hash_table_size(nobodys);
}

static double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

static void print_score(const char *name, const Score *score) {
    const Share *parts[] = {&score->linked, &score->exact, &score->among, &score->wrong, &score->used};
    printf("| `%s` |", name);
    for (gsize i = 0; i < G_N_ELEMENTS(parts); i++)
        printf(" %.1f (%.1f) |", percent(parts[i]->count, score->all.count), percent(parts[i]->ns, score->all.ns));
    printf(" %.2f | %u |\n", score->linked.count > 0 ? score->confidence / score->linked.count : 0, score->nobodys);
}

/* Is a link right as often as it says? */
static void print_honesty(const char *name, const Score *score) {
    for (guint n = 1; n <= LINK_CANDIDATES_MAX; n++) {
        const double claimed = score->claimed[n].count;
        if (claimed <= 0) continue;
        printf("| `%s` | %u | %.3f | %.3f | %.0f |\n", name, n, 1.0 / n, score->held[n].count / claimed / n, claimed);
    }
}

static void measure(Archive *archive, const char *app, GHashTable *truths) {
    static const struct {
        const char *name;
        guint32 kinds;
    } rows[] = {{"caller-context", 1u << LINK_CALLER_CONTEXT},
                {"split", 1u << LINK_SPLIT},
                {"time-host", 1u << LINK_TIME_HOST},
                {"all three", LINK_KINDS_ALL}};
    static Score scores[G_N_ELEMENTS(rows)];
    g_autoptr(SparkRecords) records = spark_records_new();
    g_autoptr(GError) error = NULL;

    for (int family = 0; family < 2; family++) {
        const SparkSelect select = SPARK_SELECT(family == 0 ? SPARK_TASK : SPARK_SPLIT, app);
        archive_spark_load(archive, &select, records, &error);
        check(error);
    }

    printf("%u tasks, %u splits, %u traces\n\n", records->of[SPARK_TASK]->len, records->of[SPARK_SPLIT]->len,
           g_hash_table_size(truths));
    printf(
        "| kind | linked, %% of traces (of time) | to the one right task | right task among several | wrong "
        "| used (confidence 0.5 or more) | mean confidence | nobody's linked |\n|---|---|---|---|---|---|---|---|\n");
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        const LinkAsk ask = {app, app, records, rows[i].kinds, LINK_SLACK_NS};
        score_kinds(archive, &ask, truths, &scores[i]);
        print_score(rows[i].name, &scores[i]);
    }

    printf("\n| kind | candidates | confidence | right | traces |\n|---|---|---|---|---|\n");
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) print_honesty(rows[i].name, &scores[i]);
}

int main(int argc, char **argv) {
    if (argc != 4) die("bench_links STORE APP TRUTH");
    g_autoptr(GError) error = NULL;
    const StoreOptions options = {.path = argv[1], .merge = archive_merge};
    g_autoptr(Store) store = store_open_rocksdb(&options, &error);
    check(error);
    g_autoptr(Archive) archive = archive_open(store, &(ArchiveOptions){0}, &error);
    check(error);
    g_autoptr(GHashTable) truths = read_truth(argv[3]);
    measure(archive, argv[2], truths);
    return 0;
}
