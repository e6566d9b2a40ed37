/* What walks a line of an event log; private to the files in C++ of this folder. simdjson reads on demand: values that
 * are not asked for are skipped without being looked at. Errors are codes, no exceptions.
 *
 * A function that parses a part returns false when the line is broken, and has said how by broken(). */
#pragma once

#define SIMDJSON_EXCEPTIONS 0
#include "spark-bridge/events/json_events.h"

#include <cstring>
#include <simdjson.h>
#include <string_view>

using simdjson::ondemand::array;
using simdjson::ondemand::object;
using simdjson::ondemand::value;

struct JsonEvents {
    explicit JsonEvents(const TaskGroups *of_tasks) : groups(of_tasks) {}
    const TaskGroups *groups;
    simdjson::ondemand::parser line, scope;
    SparkRecords *texts = nullptr;
    EventRecord *record = nullptr;
    const char *problem = nullptr;
};

/* ---- queries of Spark SQL: json_query.cc ---- */

bool parse_query(JsonEvents *json, EventKind kind, object &event);
/* The Accumulables of a stage: of those of queries accumulator, value, ... */
bool parse_stage_values(JsonEvents *json, value v, SparkNumbers *values);

/* ---- what is set ---- */

/* Of an application's environment: what decides how its tasks run. */
inline constexpr const char *PROPERTIES[] = {
    "spark.cores.max",
    "spark.decommission.enabled",
    "spark.default.parallelism",
    "spark.driver.memory",
    "spark.dynamicAllocation.enabled",
    "spark.dynamicAllocation.executorIdleTimeout",
    "spark.dynamicAllocation.maxExecutors",
    "spark.dynamicAllocation.minExecutors",
    "spark.dynamicAllocation.shuffleTracking.enabled",
    "spark.executor.cores",
    "spark.executor.instances",
    "spark.executor.memory",
    "spark.executor.memoryOverhead",
    "spark.executor.memoryOverheadFactor",
    "spark.executor.pyspark.memory",
    "spark.locality.wait",
    "spark.master",
    "spark.memory.fraction",
    "spark.memory.offHeap.enabled",
    "spark.memory.offHeap.size",
    "spark.memory.storageFraction",
    "spark.scheduler.mode",
    "spark.serializer",
    "spark.shuffle.manager",
    "spark.shuffle.service.enabled",
    "spark.shuffle.sort.io.plugin.class",
    "spark.speculation",
    "spark.sql.adaptive.advisoryPartitionSizeInBytes",
    "spark.sql.adaptive.autoBroadcastJoinThreshold",
    "spark.sql.adaptive.coalescePartitions.enabled",
    "spark.sql.adaptive.enabled",
    "spark.sql.adaptive.skewJoin.enabled",
    "spark.sql.adaptive.skewJoin.skewedPartitionFactor",
    "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes",
    "spark.sql.autoBroadcastJoinThreshold",
    "spark.sql.files.maxPartitionBytes",
    "spark.sql.files.openCostInBytes",
    "spark.sql.shuffle.partitions",
    "spark.storage.decommission.shuffleBlocks.enabled",
    "spark.submit.deployMode",
    "spark.task.cpus",
    "spark.taskMetrics.trackUpdatedBlockStatuses",
    "spark.yarn.executor.memoryOverhead",
    "spark.yarn.secondary.jars",
};

/* ---- values ---- */

inline bool broken(JsonEvents *json, const char *problem) {
    if (json->problem == nullptr) json->problem = problem;
    return false;
}

/* Keys are compared as they stand in the line, up to their closing quote; the padding makes reading so far legal. */
template <size_t N> bool is(const char *key, const char (&name)[N]) {
    static_assert(N <= simdjson::SIMDJSON_PADDING);
    return memcmp(key, name, N - 1) == 0 && key[N - 1] == '"';
}

inline gint64 number_of(value v) {
    int64_t number;
    return v.get_int64().get(number) || number < 0 ? -1 : number;
}

inline gint32 small_of(value v) {
    const gint64 number = number_of(v);
    return number > G_MAXINT32 ? -1 : (gint32)number;
}

/* Of digits and nothing else; -1 of any other text. */
inline gint64 digits_of(std::string_view text) {
    gint64 number = 0;
    if (text.empty() || text.size() > 18) return -1;
    for (const char digit : text) {
        if (!g_ascii_isdigit(digit)) return -1;
        number = number * 10 + (digit - '0');
    }
    return number;
}

/* 0 is Spark's "not yet". */
inline gint64 time_of(JsonEvents *json, value v) {
    const gint64 time_ms = number_of(v);
    if (time_ms <= 0) return -1;
    json->record->newest_ms = MAX(json->record->newest_ms, time_ms);
    return time_ms;
}

inline gint32 flag_of(value v) {
    bool flag;
    return v.get_bool().get(flag) ? -1 : (gint32)flag;
}

/* Empty for what is no text. Valid until the next line. */
inline std::string_view view_of(value v) {
    std::string_view text;
    return v.get_string().get(text) ? std::string_view() : text;
}

inline const char *text_of(JsonEvents *json, value v) {
    std::string_view text;
    return v.get_string().get(text) ? nullptr : spark_text(json->texts, text.data(), text.size());
}

inline const char *shared_of(JsonEvents *json, value v) {
    std::string_view text;
    return v.get_string().get(text) ? nullptr : spark_text_shared(json->texts, text.data(), text.size());
}

/* Calls each(key, value) for every field. */
template <typename Each> bool each_field(JsonEvents *json, object &all, Each each) {
    for (auto field : all) {
        simdjson::ondemand::raw_json_string key;
        value inner;
        if (field.key().get(key) || field.value().get(inner)) return broken(json, "not JSON");
        if (!each(key.raw(), inner)) return false;
    }
    return true;
}

/* As above, of a value; null and values of other types have no fields. */
template <typename Each> bool fields(JsonEvents *json, value v, Each each) {
    object all;
    return v.get_object().get(all) ? true : each_field(json, all, each);
}

template <typename Each> bool items(JsonEvents *json, value v, Each each) {
    array all;
    if (v.get_array().get(all)) return true;
    for (auto item : all) {
        value inner;
        if (item.get(inner)) return broken(json, "not JSON");
        if (!each(inner)) return false;
    }
    return true;
}

inline bool parse_numbers(JsonEvents *json, value v, SparkNumbers *numbers) {
    g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(gint64));
    const bool good = items(json, v, [&](value item) {
        const gint64 number = number_of(item);
        if (number >= 0) g_array_append_val(found, number);
        return true;
    });
    gint64 *list = static_cast<gint64 *>(spark_list(json->texts, found->len, sizeof(gint64)));
    if (found->len > 0) memcpy(list, found->data, found->len * sizeof(gint64));
    *numbers = SparkNumbers{list, found->len};
    return good;
}

/* ---- pairs ---- */

inline bool add_property(JsonEvents *json, const char *name, value v, GArray *found) {
    const SparkPair pair = {name, text_of(json, v)};
    if (pair.value != nullptr) g_array_append_val(found, pair);
    return true;
}

inline gint by_key(gconstpointer a, gconstpointer b) {
    return strcmp(static_cast<const SparkPair *>(a)->key, static_cast<const SparkPair *>(b)->key);
}

template <size_t N>
bool take_property(JsonEvents *json, const char *const (&names)[N], const char *key, value v, GArray *found) {
    for (const char *name : names) {
        const size_t length = strlen(name);
        if (memcmp(key, name, length) == 0 && key[length] == '"') return add_property(json, name, v, found);
    }
    return true;
}

/* Found pairs, in the order of their keys. */
inline SparkPairs sorted_pairs(JsonEvents *json, GArray *found) {
    g_array_sort(found, by_key);
    void *list = spark_list(json->texts, found->len, sizeof(SparkPair));
    if (found->len > 0) memcpy(list, found->data, found->len * sizeof(SparkPair));
    return SparkPairs{static_cast<SparkPair *>(list), found->len};
}
