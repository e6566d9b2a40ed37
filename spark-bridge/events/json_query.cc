/* Queries of Spark SQL: their plans, what the driver counted for them, and what stages counted. */
#include "spark-bridge/events/json_walk.hh"

namespace {

struct Plan {
    JsonEvents *json;
    GArray *nodes; /* SparkPlanNode */
};

/* Whole characters of no more than so many bytes. */
const char *short_text(JsonEvents *json, value v, size_t most_bytes) {
    const std::string_view text = view_of(v);
    size_t n = MIN(text.size(), most_bytes);
    while (n < text.size() && n > 0 && (text[n] & 0xc0) == 0x80) n--;
    return text.data() == nullptr ? nullptr : spark_text(json->texts, text.data(), n);
}

void *kept_list(JsonEvents *json, const GArray *found, size_t item_bytes) {
    void *list = spark_list(json->texts, found->len, item_bytes);
    if (found->len > 0) memcpy(list, found->data, found->len * item_bytes);
    return list;
}

/* A number, or a text of one, as accumulators of queries have it. */
gint64 counted_of(value v) {
    simdjson::ondemand::json_type type;
    if (v.type().get(type)) return -1;
    return type == simdjson::ondemand::json_type::string ? digits_of(view_of(v)) : number_of(v);
}

/* *least: of the accumulators. */
bool parse_metrics(JsonEvents *json, value v, SparkPlanMetrics *metrics, gint64 *least) {
    g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(SparkPlanMetric));
    const bool good = items(json, v, [&](value item) {
        SparkPlanMetric metric = {nullptr, nullptr, -1};
        if (!fields(json, item, [&](const char *key, value inner) {
                if (is(key, "name"))
                    metric.name = shared_of(json, inner);
                else if (is(key, "accumulatorId"))
                    metric.accumulator = number_of(inner);
                else if (is(key, "metricType"))
                    metric.type = shared_of(json, inner);
                return true;
            }))
            return false;

        if (metric.accumulator < 0 || found->len >= PLAN_METRICS_MOST) return true;
        *least = *least < 0 ? metric.accumulator : MIN(*least, metric.accumulator);
        g_array_append_val(found, metric);
        return true;
    });
    *metrics =
        SparkPlanMetrics{static_cast<SparkPlanMetric *>(kept_list(json, found, sizeof(SparkPlanMetric))), found->len};
    return good;
}

/* Of a scan: what it reads, and which of it. */
constexpr const char *METADATA[] = {"Format", "Location", "PartitionFilters", "PushedFilters"};

bool parse_metadata(JsonEvents *json, value v, SparkPairs *metadata) {
    g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(SparkPair));
    const bool good = fields(json, v, [&](const char *key, value inner) {
        for (const char *name : METADATA) {
            const size_t length = strlen(name);
            if (memcmp(key, name, length) != 0 || key[length] != '"') continue;
            const SparkPair pair = {name, short_text(json, inner, PLAN_NODE_TEXT_BYTES)};
            if (pair.value != nullptr && found->len < G_N_ELEMENTS(METADATA)) g_array_append_val(found, pair);
            break;
        }
        return true;
    });
    *metadata = sorted_pairs(json, found);
    return good;
}

/* A node and what is below it. Beyond the limits nothing is looked at. */
bool parse_node(Plan *plan, value v, gint64 parent, guint depth) {
    JsonEvents *json = plan->json;
    const guint at = plan->nodes->len;
    if (at >= PLAN_NODES_MOST || depth >= PLAN_DEPTH_MOST) return true;
    SparkPlanNode node = {};
    gint64 least = -1;
    node.parent = parent;
    g_array_append_val(plan->nodes, node);

    const bool good = fields(json, v, [&](const char *key, value inner) {
        if (is(key, "nodeName"))
            node.name = shared_of(json, inner);
        else if (is(key, "simpleString"))
            node.text = short_text(json, inner, PLAN_NODE_TEXT_BYTES);
        else if (is(key, "children"))
            return items(json, inner, [&](value child) { return parse_node(plan, child, at, depth + 1); });
        else if (is(key, "metadata"))
            return parse_metadata(json, inner, &node.metadata);
        else if (is(key, "metrics"))
            return parse_metrics(json, inner, &node.metrics, &least);
        return true;
    });
    g_array_index(plan->nodes, SparkPlanNode, at) = node;
    return good;
}

void keep_plan(JsonEvents *json, const GArray *nodes, SparkPlan *plan) {
    *plan = SparkPlan{static_cast<SparkPlanNode *>(kept_list(json, nodes, sizeof(SparkPlanNode))), nodes->len};
}

bool parse_plan(JsonEvents *json, value v, SparkPlan *plan) {
    g_autoptr(GArray) nodes = g_array_new(FALSE, FALSE, sizeof(SparkPlanNode));
    Plan reader = {json, nodes};
    const bool good = parse_node(&reader, v, -1, 0);
    keep_plan(json, nodes, plan);
    return good;
}

/* As the plan of one node. */
bool parse_more_metrics(JsonEvents *json, value v, SparkQuery *query) {
    g_autoptr(GArray) nodes = g_array_new(FALSE, FALSE, sizeof(SparkPlanNode));
    SparkPlanNode node = {};
    gint64 least = -1;
    node.parent = -1;
    const bool good = parse_metrics(json, v, &node.metrics, &least);
    g_array_append_val(nodes, node);
    keep_plan(json, nodes, &query->plan);
    query->part = least + 1;
    return good;
}

void add_value(GArray *found, gint64 accumulator, gint64 counted) {
    if (accumulator < 0 || counted < 0 || found->len >= 2 * PLAN_VALUES_MOST) return;
    g_array_append_val(found, accumulator);
    g_array_append_val(found, counted);
}

SparkNumbers kept_values(JsonEvents *json, const GArray *found) {
    return SparkNumbers{static_cast<gint64 *>(kept_list(json, found, sizeof(gint64))), found->len};
}

/* [[accumulator, value], ...] */
bool parse_values(JsonEvents *json, value v, SparkQuery *query) {
    g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(gint64));
    gint64 least = -1;
    const bool good = items(json, v, [&](value item) {
        gint64 pair[2] = {-1, -1};
        guint n = 0;
        if (!items(json, item, [&](value number) {
                if (n < 2) pair[n++] = number_of(number);
                return true;
            }))
            return false;
        if (pair[0] >= 0) least = least < 0 ? pair[0] : MIN(least, pair[0]);
        add_value(found, pair[0], pair[1]);
        return true;
    });
    query->values = kept_values(json, found);
    query->part = least + 1;
    return good;
}

bool parse_settings(JsonEvents *json, value v, SparkPairs *settings) {
    g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(SparkPair));
    const bool good = fields(json, v, [&](const char *key, value inner) {
        return found->len >= G_N_ELEMENTS(PROPERTIES) || take_property(json, PROPERTIES, key, inner, found);
    });
    *settings = sorted_pairs(json, found);
    return good;
}

bool parse_query_field(JsonEvents *json, EventKind kind, const char *key, value v) {
    SparkQuery *query = &json->record->as.query;

    if (is(key, "executionId"))
        query->query = number_of(v);
    else if (is(key, "time"))
        (kind == EVENT_QUERY_END ? query->completed_ms : query->submitted_ms) = time_of(json, v);
    else if (is(key, "description"))
        query->description = text_of(json, v);
    else if (is(key, "errorMessage")) {
        const std::string_view said = view_of(v), first = said.substr(0, said.find('\n'));
        if (!first.empty()) query->error = spark_text(json->texts, first.data(), first.size());
    } else if (is(key, "modifiedConfigs"))
        return parse_settings(json, v, &query->settings);
    else if (is(key, "sparkPlanInfo"))
        return parse_plan(json, v, &query->plan);
    else if (is(key, "sqlPlanMetrics"))
        return parse_more_metrics(json, v, query);
    else if (is(key, "accumUpdates"))
        return parse_values(json, v, query);
    return true;
}

} // namespace

bool parse_query(JsonEvents *json, EventKind kind, object &event) {
    SparkQuery *query = &json->record->as.query;
    const bool whole = kind != EVENT_QUERY_METRICS && kind != EVENT_QUERY_VALUES;
    const bool good =
        each_field(json, event, [&](const char *key, value v) { return parse_query_field(json, kind, key, v); });
    if (!good) return false;
    if (query->query < 0) return broken(json, "a query without its number");
    if (whole)
        query->part = 0;
    else if (query->part <= 0)
        json->record->kind = SPARK_KIND_COUNT; /* it said nothing */
    return true;
}

bool parse_stage_values(JsonEvents *json, value v, SparkNumbers *values) {
    g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(gint64));
    const bool good = items(json, v, [&](value item) {
        gint64 accumulator = -1, counted = -1;
        bool of_query = false;
        if (!fields(json, item, [&](const char *key, value inner) {
                if (is(key, "ID"))
                    accumulator = number_of(inner);
                else if (is(key, "Value"))
                    counted = counted_of(inner);
                else if (is(key, "Metadata"))
                    of_query = view_of(inner) == "sql";
                return true;
            }))
            return false;
        if (of_query) add_value(found, accumulator, counted);
        return true;
    });

    *values = kept_values(json, found);
    return good;
}
