#include "common/model/plan_label.h"

#include <string.h>

#define LABEL_BYTES 64u

gboolean plan_node_is(const SparkPlanNode *node, const char *name) { return g_strcmp0(node->name, name) == 0; }

gboolean plan_node_is_minor(const SparkPlanNode *node) {
    static const char *const minor[] = {"WholeStageCodegen", "InputAdapter",      "Project",       "Filter",
                                        "ColumnarToRow",     "RowToColumnar",     "AQEShuffle",    "CustomShuffle",
                                        "ShuffleQueryStage", "BroadcastQuery",    "TableCache",    "ResultQuery",
                                        "AdaptiveSparkPlan", "ReusedExchange",    "SerializeFrom", "DeserializeTo",
                                        "CommandResult",     "Execute CreateView"};
    if (node->name == NULL) return TRUE;
    for (guint i = 0; i < G_N_ELEMENTS(minor); i++)
        if (g_str_has_prefix(node->name, minor[i])) return TRUE;
    return FALSE;
}

const char *plan_node_metadata(const SparkPlanNode *node, const char *key) {
    for (guint32 i = 0; i < node->metadata.n; i++)
        if (g_strcmp0(node->metadata.items[i].key, key) == 0) return node->metadata.items[i].value;
    return NULL;
}

/* "customer#12L" is "customer". */
static char *without_numbers(const char *text) {
    GString *out = g_string_new(NULL);
    for (const char *at = text; *at != '\0'; at++) {
        if (*at != '#' || !g_ascii_isdigit(at[1])) {
            g_string_append_c(out, *at);
            continue;
        }
        while (g_ascii_isdigit(at[1])) at++;
        if (at[1] == 'L') at++;
    }
    return g_string_free(out, FALSE);
}

/* "hashpartitioning(customer, 200)": the last argument is the number of partitions. */
static void cut_partitions(char *text) {
    char *comma = strrchr(text, ',');
    if (comma == NULL || comma[1] != ' ' || !g_ascii_isdigit(comma[2])) return;
    const char *end = comma + 2;
    while (g_ascii_isdigit(*end)) end++;
    if (strcmp(end, ")") == 0) strcpy(comma, ")");
}

/* Up to the first comma that is in no parentheses. */
static char *exchange_label(const SparkPlanNode *node) {
    const char *end = node->text;
    for (gint depth = 0; *end != '\0' && (*end != ',' || depth > 0); end++) depth += (*end == '(') - (*end == ')');
    g_autofree char *how = g_strndup(node->text, (gsize)(end - node->text));
    char *label = without_numbers(how);
    cut_partitions(label);
    return label;
}

/* "orders" of "InMemoryFileIndex(1 paths)[hdfs://n1/tables/orders]"; NULL: it is not told. */
static char *folder_of(const SparkPlanNode *node) {
    const char *location = plan_node_metadata(node, "Location");
    const char *open = location != NULL ? strchr(location, '[') : NULL;
    if (open == NULL) return NULL;
    g_autofree char *path = g_strndup(open + 1, strcspn(open + 1, ",]"));
    while (g_str_has_suffix(path, "/")) path[strlen(path) - 1] = '\0';
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    return name[0] != '\0' ? g_strdup(name) : NULL;
}

/* "Scan parquet spark_catalog.default.orders" has its table, "Scan parquet " has none. */
static char *scan_label(const char *name, const SparkPlanNode *node) {
    static const char *const fronts[] = {"spark_catalog.", "default."};
    const char *table = strrchr(name, ' ') + 1;
    if (strchr(name, ' ') + 1 == table) {
        g_autofree char *folder = folder_of(node);
        return folder != NULL ? g_strdup_printf("%s %s", name, folder) : g_strdup(name);
    }
    const gsize before = (gsize)(table - name);
    for (guint i = 0; i < G_N_ELEMENTS(fronts); i++)
        if (g_str_has_prefix(table, fronts[i])) table += strlen(fronts[i]);
    return g_strdup_printf("%.*s%s", (int)before, name, table);
}

static char *cut_label(char *label) {
    gsize n = strlen(label);
    if (n <= LABEL_BYTES) return label;
    n = LABEL_BYTES - 3;
    while (n > 0 && ((guint8)label[n] & 0xc0) == 0x80) n--;
    strcpy(label + n, "...");
    return label;
}

char *plan_node_label(const SparkPlanNode *node) {
    if (node->name == NULL) return NULL;
    g_autofree char *name = g_strstrip(g_strdup(node->name));
    if (name[0] == '\0') return NULL;
    if (strcmp(name, "Exchange") == 0 && node->text != NULL && g_str_has_prefix(node->text, "Exchange "))
        return cut_label(exchange_label(node));
    if (g_str_has_prefix(name, "Scan ")) return cut_label(scan_label(name, node));
    return cut_label(g_steal_pointer(&name));
}
