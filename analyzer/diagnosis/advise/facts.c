#include "analyzer/diagnosis/advise/facts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/diagnosis/order.h"

#define KIB 1024.0

AdviseSpread advise_spread(const double *values, guint32 n) {
    AdviseSpread spread = {.n = n, .max_task = -1, .max_partition = -1};
    if (n == 0) return spread;
    spread.median = order_median(values, n);
    spread.p75 = order_quantile(values, n, 0.75);
    for (guint32 i = 0; i < n; i++) {
        spread.max = MAX(spread.max, values[i]);
        spread.mean += values[i] / n;
    }
    return spread;
}

AdviseFacts *advise_facts_new(const SparkApp *app) {
    AdviseFacts *facts = g_new0(AdviseFacts, 1);
    facts->app = app;
    facts->stages = g_array_new(FALSE, TRUE, sizeof(AdviseStage));
    facts->executors = g_array_new(FALSE, TRUE, sizeof(AdviseExecutor));
    facts->jobs = g_array_new(FALSE, TRUE, sizeof(AdviseJob));
    facts->nodes = g_array_new(FALSE, TRUE, sizeof(AdviseNode));
    facts->cached = g_array_new(FALSE, TRUE, sizeof(AdviseCached));
    facts->scans = g_array_new(FALSE, TRUE, sizeof(AdviseScan));
    facts->joins = g_array_new(FALSE, TRUE, sizeof(AdviseJoin));
    facts->profiles = g_array_new(FALSE, TRUE, sizeof(AdviseProfile));
    facts->reads = g_array_new(FALSE, TRUE, sizeof(AdviseReads));
    facts->exclusions = g_array_new(FALSE, TRUE, sizeof(SparkExclusion));
    facts->program = g_array_new(FALSE, TRUE, sizeof(SparkPair));
    return facts;
}

void advise_facts_free(AdviseFacts *facts) {
    if (facts == NULL) return;
    g_array_unref(facts->stages);
    g_array_unref(facts->executors);
    g_array_unref(facts->jobs);
    g_array_unref(facts->nodes);
    g_array_unref(facts->cached);
    g_array_unref(facts->scans);
    g_array_unref(facts->joins);
    g_array_unref(facts->profiles);
    g_array_unref(facts->exclusions);
    g_array_unref(facts->reads);
    g_array_unref(facts->program);
    g_free(facts);
}

const AdviseProfile *advise_profile(const AdviseFacts *facts, gint64 profile) {
    for (guint i = 0; profile > 0 && i < facts->profiles->len; i++) {
        const AdviseProfile *known = &g_array_index(facts->profiles, AdviseProfile, i);
        if (known->given.profile == profile) return known;
    }
    return NULL;
}

guint stage_slots(const AdviseFacts *facts, const AdviseStage *stage) {
    const AdviseProfile *own = advise_profile(facts, stage->profile);
    return own != NULL && own->slots > 0 ? own->slots : facts->slots;
}

/* ---- failures ---- */

static gboolean says(const char *reason, const char *const *words) {
    for (; *words != NULL; words++)
        if (strstr(reason, *words) != NULL) return TRUE;
    return FALSE;
}

/* 52 is what an executor of Spark exits with after an OutOfMemoryError. */
gboolean failure_of_heap(const char *reason) {
    static const char *const heap[] = {"OutOfMemory", "code 52", "xit status: 52", NULL};
    return says(reason, heap);
}

FailureClass failure_class(const char *reason, TaskStatus status) {
    static const char *const memory[] = {
        "OutOfMemory",      "exit code 137",    "exit code 143", "exit status: 137", "exit status: 143",
        "Exit status: 137", "Exit status: 143", "code 137",      "memory limits",    NULL};
    static const char *const preempted[] = {"preempt", "Preempt", NULL};
    static const char *const fetch[] = {"FetchFailed", "MetadataFetchFailed", NULL};
    const char *text = reason != NULL ? reason : "";
    if (says(text, memory) || failure_of_heap(text)) return FAILURE_MEMORY;
    if (says(text, preempted)) return FAILURE_PREEMPTED;
    if (says(text, fetch)) return FAILURE_FETCH;
    return status == TASK_LOST ? FAILURE_HOST : FAILURE_CODE;
}

const char *failure_class_name(FailureClass failure) {
    static const char *const names[] = {"fetch", "memory", "preempted", "host", "code"};
    return (guint)failure < FAILURE_CLASSES ? names[failure] : "unknown";
}

/* ---- settings ---- */

gboolean advise_since(const AdviseFacts *facts, guint major, guint minor) {
    const char *version = facts->app->version;
    if (version == NULL || !g_ascii_isdigit(version[0])) return TRUE;
    char *end;
    const gulong its_major = strtoul(version, &end, 10);
    const gulong its_minor = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;
    return its_major != major ? its_major > major : its_minor >= minor;
}

/* What a key is where nobody set it, and since which version; the later row of a key wins. */
static const struct {
    const char *key;
    guint major, minor;
    const char *value;
} defaults[] = {
    {"spark.decommission.enabled", 0, 0, "false"},
    {"spark.driver.memory", 0, 0, "1g"},
    {"spark.dynamicAllocation.enabled", 0, 0, "false"},
    {"spark.dynamicAllocation.executorIdleTimeout", 0, 0, "60s"},
    {"spark.dynamicAllocation.shuffleTracking.enabled", 0, 0, "false"},
    {"spark.dynamicAllocation.shuffleTracking.enabled", 3, 4, "true"},
    {"spark.executor.memory", 0, 0, "1g"},
    {"spark.executor.memoryOverheadFactor", 0, 0, "0.1"},
    {"spark.locality.wait", 0, 0, "3s"},
    {"spark.memory.fraction", 0, 0, "0.75"},
    {"spark.memory.fraction", 2, 0, "0.6"},
    {"spark.memory.offHeap.enabled", 0, 0, "false"},
    {"spark.serializer", 0, 0, "org.apache.spark.serializer.JavaSerializer"},
    {"spark.shuffle.service.enabled", 0, 0, "false"},
    {"spark.sql.adaptive.advisoryPartitionSizeInBytes", 0, 0, "64MB"},
    {"spark.sql.adaptive.coalescePartitions.enabled", 0, 0, "true"},
    {"spark.sql.adaptive.enabled", 0, 0, "false"},
    {"spark.sql.adaptive.enabled", 3, 2, "true"},
    {"spark.sql.adaptive.skewJoin.enabled", 0, 0, "false"},
    {"spark.sql.adaptive.skewJoin.enabled", 3, 0, "true"},
    {"spark.sql.adaptive.skewJoin.skewedPartitionFactor", 0, 0, "5"},
    {"spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes", 0, 0, "256MB"},
    {"spark.sql.autoBroadcastJoinThreshold", 0, 0, "10MB"},
    {"spark.sql.files.maxPartitionBytes", 0, 0, "128MB"},
    {"spark.sql.files.openCostInBytes", 0, 0, "4MB"},
    {"spark.sql.shuffle.partitions", 0, 0, "200"},
    {"spark.storage.decommission.shuffleBlocks.enabled", 0, 0, "false"},
    {"spark.task.cpus", 0, 0, "1"},
};

const char *advise_program_sets(const AdviseFacts *facts, const char *key) {
    for (guint i = 0; i < facts->program->len; i++) {
        const SparkPair *pair = &g_array_index(facts->program, SparkPair, i);
        if (g_strcmp0(pair->key, key) == 0) return pair->value;
    }
    return NULL;
}

static const char *set_value(const AdviseFacts *facts, const char *key) {
    const char *by_program = advise_program_sets(facts, key);
    if (by_program != NULL) return by_program;
    const SparkPairs *all = &facts->app->properties;
    for (guint32 i = 0; i < all->n; i++)
        if (g_strcmp0(all->items[i].key, key) == 0) return all->items[i].value;
    return NULL;
}

gboolean advise_is_set(const AdviseFacts *facts, const char *key) { return set_value(facts, key) != NULL; }

const char *advise_setting(const AdviseFacts *facts, const char *key) {
    const char *value = set_value(facts, key);
    if (value != NULL) return value;
    for (guint i = 0; i < G_N_ELEMENTS(defaults); i++)
        if (strcmp(defaults[i].key, key) == 0 && advise_since(facts, defaults[i].major, defaults[i].minor))
            value = defaults[i].value;
    return value;
}

gboolean advise_flag(const AdviseFacts *facts, const char *key) {
    const char *value = advise_setting(facts, key);
    return value != NULL && g_ascii_strcasecmp(value, "true") == 0;
}

double advise_number(const AdviseFacts *facts, const char *key) {
    const char *value = advise_setting(facts, key);
    char *end = NULL;
    const double number = value != NULL ? g_ascii_strtod(value, &end) : -1;
    return value == NULL || end == value || *end != '\0' || !isfinite(number) ? -1 : number;
}

double bytes_parse(const char *text, double unit) {
    static const char letters[] = "bkmgtp";
    if (text == NULL || !g_ascii_isdigit(text[0])) return -1;
    char *end;
    const double number = g_ascii_strtod(text, &end);
    if (!isfinite(number)) return -1;
    while (*end == ' ') end++;
    if (*end == '\0') return number * unit;

    const char letter = g_ascii_tolower(*end);
    const char *found = strchr(letters, letter);
    const char *rest = end + 1;
    if (letter != 'b' && g_ascii_tolower(*rest) == 'i') rest++;
    if (letter != 'b' && g_ascii_tolower(*rest) == 'b') rest++;
    return found == NULL || *rest != '\0' ? -1 : number * pow(KIB, (double)(found - letters));
}

double advise_bytes(const AdviseFacts *facts, const char *key, double unit) {
    return bytes_parse(advise_setting(facts, key), unit);
}

double time_parse_ms(const char *text) {
    static const struct {
        const char *unit;
        double ms;
    } units[] = {{"", 1}, {"ms", 1}, {"s", 1e3}, {"m", 60e3}, {"min", 60e3}, {"h", 3600e3}, {"d", 86400e3}};
    if (text == NULL || !g_ascii_isdigit(text[0])) return -1;
    char *end;
    const double number = g_ascii_strtod(text, &end);
    for (guint i = 0; i < G_N_ELEMENTS(units); i++)
        if (g_ascii_strcasecmp(end, units[i].unit) == 0) return number * units[i].ms;
    return -1;
}
