/* The one file in C++: simdjson has no C interface. It walks a line once, on demand: values that are not asked for (of
 * a task's line, nine tenths are Accumulables) are skipped without being looked at. Errors are codes, no exceptions. */
#include "spark-bridge/events/json_events.h"

#include "spark-bridge/events/json_walk.hh"

namespace {

/* A parser that has seen a longer line gives its memory back. */
constexpr size_t KEPT_CAPACITY = 4 * 1024 * 1024;

/* Of a profile of resources: amounts as large are nonsense, and of kinds that have no field as many are kept. */
constexpr double MIB = 1024.0 * 1024, MOST_AMOUNT = 1e12;
constexpr guint OTHERS_MOST = 64;

/* ---- tasks ---- */

/* A block that has no size, in memory or on the disk, was evicted. */
bool parse_block(JsonEvents *json, value v, gint64 *metrics) {
    bool of_rdd = false;
    gint64 bytes = 0;
    const bool good = fields(json, v, [&](const char *key, value inner) {
        if (is(key, "Block ID")) of_rdd = view_of(inner).substr(0, 4) == "rdd_";
        if (!is(key, "Status")) return true;
        return fields(json, inner, [&](const char *name, value size) {
            if (is(name, "Memory Size") || is(name, "Disk Size")) bytes = MAX(bytes, number_of(size));
            return true;
        });
    });

    gint64 *count = &metrics[bytes > 0 ? METRIC_BLOCKS_KEPT : METRIC_BLOCKS_EVICTED];
    if (good && of_rdd) *count = MAX(*count, 0) + 1;
    return good;
}

bool parse_blocks(JsonEvents *json, value v, gint64 *metrics) {
    array all;
    if (v.get_array().get(all)) return true;
    for (auto item : all) {
        value block;
        if (item.get(block)) return broken(json, "not JSON");
        if (!parse_block(json, block, metrics)) return false;
    }
    return true;
}

bool parse_metrics(JsonEvents *json, value v, guint number, gint64 *metrics) {
    const TaskGroup *group = &json->groups->of[number];
    guint next = 0, left = group->n;
    object all;
    if (v.get_object().get(all)) return true;
    const bool of_executor = number == TASK_GROUP_EXECUTOR;
    const gint64 unknown = of_executor ? 0 : -1; /* 0: it was not measured meanwhile */
    for (auto field : all) {
        simdjson::ondemand::raw_json_string key;
        value inner;
        if (field.key().get(key) || field.value().get(inner)) return broken(json, "not JSON");
        const gint found = task_group_find(group, key.raw(), &next);
        const gint metric = found >= 0 ? (gint)group->metrics[found] : -1;
        const guint within = metric < 0 && number == 0 ? task_groups_within(json->groups, key.raw()) : 0;
        const gint64 amount = metric >= 0 ? number_of(inner) : -1;
        if (amount > unknown) metrics[metric] = amount;
        if (of_executor && metric == METRIC_HEAP_PEAK_BYTES && amount == 0) return true; /* nothing was */
        if (within > 0 && !parse_metrics(json, inner, within, metrics)) return false;
        if (number == 0 && is(key.raw(), "Updated Blocks") && !parse_blocks(json, inner, metrics)) return false;
        if (metric >= 0 && --left == 0 && number > 0) return true; /* what comes after is not asked for */
    }
    return true;
}

bool parse_task_info(JsonEvents *json, value v, SparkTask *task) {
    gint32 partition = -1;

    const bool good = fields(json, v, [&](const char *key, value inner) {
        if (is(key, "Task ID"))
            task->task = number_of(inner);
        else if (is(key, "Index"))
            task->partition = small_of(inner);
        else if (is(key, "Attempt"))
            task->attempt = small_of(inner);
        else if (is(key, "Partition ID"))
            partition = small_of(inner);
        else if (is(key, "Launch Time"))
            task->launch_ms = time_of(json, inner);
        else if (is(key, "Executor ID"))
            task->executor = shared_of(json, inner);
        else if (is(key, "Host"))
            task->host = shared_of(json, inner);
        else if (is(key, "Locality")) {
            const std::string_view text = view_of(inner);
            task->locality = task_locality_parse(text.data(), text.size());
        } else if (is(key, "Speculative"))
            task->speculative = flag_of(inner);
        else if (is(key, "Getting Result Time"))
            task->getting_result_ms = time_of(json, inner);
        else if (is(key, "Finish Time"))
            task->finish_ms = time_of(json, inner);
        return true;
    });

    if (partition >= 0)
        task->partition = partition; /* the index within a stage attempt is another number after retries */
    return good;
}

TaskStatus status_of(std::string_view reason) {
    if (reason == "Success") return TASK_SUCCESS;
    if (reason == "TaskKilled" || reason == "TaskCommitDenied") return TASK_KILLED;
    if (reason == "ExecutorLostFailure" || reason == "Resubmitted" || reason == "TaskResultLost") return TASK_LOST;
    return TASK_FAILED;
}

/* "java.io.IOException: disk is gone", of the first line of what was said. */
const char *failure_text(SparkRecords *texts, std::string_view kind, std::string_view said) {
    said = said.substr(0, said.find('\n'));
    if (said.empty()) return spark_text_shared(texts, kind.data(), kind.size());
    g_autoptr(GString) text = g_string_new_len(kind.data(), (gssize)kind.size());
    g_string_append(text, ": ");
    g_string_append_len(text, said.data(), (gssize)said.size());
    return spark_text(texts, text->str, text->len);
}

bool parse_end_reason(JsonEvents *json, value v, SparkTask *task) {
    std::string_view kind, class_name, said;
    const bool good = fields(json, v, [&](const char *key, value inner) {
        if (is(key, "Reason"))
            kind = view_of(inner);
        else if (is(key, "Class Name"))
            class_name = view_of(inner);
        else if (is(key, "Description") || is(key, "Message") || is(key, "Loss Reason") || is(key, "Kill Reason"))
            said = view_of(inner);
        else if (is(key, "Metrics")) /* 1.x has a failed task's metrics here */
            return parse_metrics(json, inner, 0, task->metrics);
        return true;
    });
    task->status = kind.empty() ? TASK_RUNNING : status_of(kind);
    if (!kind.empty() && task->status != TASK_SUCCESS)
        task->reason = failure_text(json->texts, class_name.empty() ? kind : class_name, said);
    return good;
}

/* Before 3.0 the peak is among the Accumulables only: "internal.metrics.peakExecutionMemory" or, in 1.x, without the
 * front. Its "Update" is of this task. */
gint64 accumulated_peak(Bytes line) {
    static const char name[] = "peakExecutionMemory\"", update[] = "\"Update\":";
    const char *end = static_cast<const char *>(line.data) + line.size_bytes;
    const void *found = memmem(line.data, line.size_bytes, name, sizeof name - 1);
    if (found == nullptr) return -1;
    const char *at = static_cast<const char *>(found) + sizeof name - 1;
    const char *close = static_cast<const char *>(memchr(at, '}', (size_t)(end - at)));
    if (close == nullptr) return -1;
    at = static_cast<const char *>(memmem(at, (size_t)(close - at), update, sizeof update - 1));
    if (at == nullptr) return -1;
    at += sizeof update - 1;
    if (*at == '"') at++;
    return g_ascii_isdigit(*at) ? g_ascii_strtoll(at, nullptr, 10) : -1; /* ends at the brace at the latest */
}

bool parse_task(JsonEvents *json, object &event, Bytes line, bool ended) {
    SparkTask *task = &json->record->as.task;
    const bool good = each_field(json, event, [&](const char *key, value v) {
        if (is(key, "Stage ID"))
            task->stage = number_of(v);
        else if (is(key, "Stage Attempt ID"))
            task->stage_attempt = small_of(v);
        else if (is(key, "Task Info"))
            return parse_task_info(json, v, task);
        else if (ended && is(key, "Task End Reason"))
            return parse_end_reason(json, v, task);
        else if (ended && is(key, "Task Metrics"))
            return parse_metrics(json, v, 0, task->metrics);
        else if (ended && is(key, "Task Executor Metrics"))
            return parse_metrics(json, v, TASK_GROUP_EXECUTOR, task->metrics);
        return true;
    });
    if (!good) return false;

    if (task->stage < 0 || task->task < 0) return broken(json, "a task without its stage or its id");
    if (task->stage_attempt < 0) task->stage_attempt = 0; /* the first versions knew none */
    if (task->metrics[METRIC_RUN_MS] >= 0 && task->metrics[METRIC_PEAK_MEMORY_BYTES] < 0)
        task->metrics[METRIC_PEAK_MEMORY_BYTES] = accumulated_peak(line);
    return true;
}

/* ---- stages and jobs ---- */

/* A scope is JSON in a text: {"id":"3","name":"map","parent":{...}}. */
const char *scope_name(JsonEvents *json, value v) {
    const std::string_view text = view_of(v);
    if (text.empty()) return nullptr;
    const simdjson::padded_string copy(text);
    simdjson::ondemand::document scope;
    std::string_view name;
    if (json->scope.iterate(copy).get(scope) || scope.find_field_unordered("name").get_string().get(name))
        return nullptr;
    return spark_text_shared(json->texts, name.data(), name.size());
}

const char *storage_level(JsonEvents *json, value v) {
    gint32 disk = 0, memory = 0, off_heap = 0;
    fields(json, v, [&](const char *key, value inner) {
        if (is(key, "Use Disk"))
            disk = flag_of(inner);
        else if (is(key, "Use Memory"))
            memory = flag_of(inner);
        else if (is(key, "Use Off Heap") || is(key, "Use ExternalBlockStore") || is(key, "Use Tachyon"))
            off_heap = flag_of(inner);
        return true;
    });
    if (off_heap == 1) return disk == 1 ? "off-heap+disk" : "off-heap";
    if (memory == 1) return disk == 1 ? "memory+disk" : "memory";
    return disk == 1 ? "disk" : nullptr;
}

bool parse_rdd(JsonEvents *json, value v, SparkRdd *rdd) {
    return fields(json, v, [&](const char *key, value inner) {
        if (is(key, "RDD ID"))
            rdd->id = number_of(inner);
        else if (is(key, "Name"))
            rdd->name = shared_of(json, inner);
        else if (is(key, "Scope"))
            rdd->scope = scope_name(json, inner);
        else if (is(key, "Callsite"))
            rdd->call_site = shared_of(json, inner);
        else if (is(key, "Parent IDs"))
            return parse_numbers(json, inner, &rdd->parents);
        else if (is(key, "Storage Level"))
            rdd->storage_level = storage_level(json, inner);
        else if (is(key, "Number of Partitions"))
            rdd->partitions = number_of(inner);
        return true;
    });
}

bool parse_rdds(JsonEvents *json, value v, SparkRdds *rdds) {
    g_autoptr(GArray) found = g_array_new(FALSE, TRUE, sizeof(SparkRdd));
    const bool good = items(json, v, [&](value item) {
        SparkRdd rdd = {};
        rdd.id = rdd.partitions = -1;
        if (!parse_rdd(json, item, &rdd)) return false;
        if (rdd.id >= 0) g_array_append_val(found, rdd);
        return true;
    });
    void *list = spark_list(json->texts, found->len, sizeof(SparkRdd));
    if (found->len > 0) memcpy(list, found->data, found->len * sizeof(SparkRdd));
    *rdds = SparkRdds{static_cast<SparkRdd *>(list), found->len};
    return good;
}

bool parse_stage_info(JsonEvents *json, value v, SparkStage *stage) {
    return fields(json, v, [&](const char *key, value inner) {
        if (is(key, "Stage ID"))
            stage->stage = number_of(inner);
        else if (is(key, "Stage Attempt ID"))
            stage->attempt = small_of(inner);
        else if (is(key, "Stage Name"))
            stage->name = text_of(json, inner);
        else if (is(key, "Number of Tasks"))
            stage->tasks = small_of(inner);
        else if (is(key, "RDD Info"))
            return parse_rdds(json, inner, &stage->rdds);
        else if (is(key, "Parent IDs"))
            return parse_numbers(json, inner, &stage->parents);
        else if (is(key, "Details"))
            stage->details = text_of(json, inner);
        else if (is(key, "Submission Time"))
            stage->submitted_ms = time_of(json, inner);
        else if (is(key, "Completion Time"))
            stage->completed_ms = time_of(json, inner);
        else if (is(key, "Failure Reason"))
            stage->failure = text_of(json, inner);
        else if (is(key, "Resource Profile Id"))
            stage->profile = number_of(inner);
        else if (is(key, "Accumulables"))
            return parse_stage_values(json, inner, &stage->values);
        return true;
    });
}

bool parse_stage(JsonEvents *json, object &event) {
    SparkStage *stage = &json->record->as.stage;
    const bool good = each_field(json, event, [&](const char *key, value v) {
        return is(key, "Stage Info") ? parse_stage_info(json, v, stage) : true;
    });
    if (!good) return false;
    if (stage->stage < 0) return broken(json, "a stage without its number");
    if (stage->attempt < 0) stage->attempt = 0;
    return true;
}

/* The name of a job is that of its last stage, where no call site is told. */
bool parse_job_stages(JsonEvents *json, value v, const char **name) {
    gint64 last = -1;
    return items(json, v, [&](value item) {
        gint64 stage = -1;
        std::string_view said;
        const bool good = fields(json, item, [&](const char *key, value inner) {
            if (is(key, "Stage ID"))
                stage = number_of(inner);
            else if (is(key, "Stage Name"))
                said = view_of(inner);
            return true;
        });
        if (stage > last && !said.empty()) {
            last = stage;
            *name = spark_text(json->texts, said.data(), said.size());
        }
        return good;
    });
}

bool parse_job_start(JsonEvents *json, object &event) {
    SparkJob *job = &json->record->as.job;
    const char *stage_name = nullptr;

    const bool good = each_field(json, event, [&](const char *key, value v) {
        if (is(key, "Job ID"))
            job->job = number_of(v);
        else if (is(key, "Submission Time"))
            job->submitted_ms = time_of(json, v);
        else if (is(key, "Stage IDs"))
            return parse_numbers(json, v, &job->stages);
        else if (is(key, "Stage Infos"))
            return parse_job_stages(json, v, &stage_name);
        else if (is(key, "Properties"))
            return fields(json, v, [&](const char *name, value inner) {
                if (is(name, "spark.job.description"))
                    job->description = text_of(json, inner);
                else if (is(name, "callSite.short"))
                    job->call_site = text_of(json, inner);
                else if (is(name, "spark.sql.execution.id"))
                    job->query = digits_of(view_of(inner));
                return true;
            });
        return true;
    });

    if (job->call_site == nullptr) job->call_site = stage_name;
    return good && (job->job >= 0 || broken(json, "a job without its number"));
}

bool parse_job_result(JsonEvents *json, value v, SparkJob *job) {
    return fields(json, v, [&](const char *key, value inner) {
        if (is(key, "Result"))
            job->result = view_of(inner) == "JobSucceeded" ? JOB_SUCCEEDED : JOB_FAILED;
        else if (is(key, "Exception"))
            return fields(json, inner, [&](const char *name, value said) {
                if (is(name, "Message")) job->error = text_of(json, said);
                return true;
            });
        return true;
    });
}

bool parse_job_end(JsonEvents *json, object &event) {
    SparkJob *job = &json->record->as.job;
    const bool good = each_field(json, event, [&](const char *key, value v) {
        if (is(key, "Job ID"))
            job->job = number_of(v);
        else if (is(key, "Completion Time"))
            job->completed_ms = time_of(json, v);
        else if (is(key, "Job Result"))
            return parse_job_result(json, v, job);
        return true;
    });
    return good && (job->job >= 0 || broken(json, "a job without its number"));
}

/* ---- the application and its executors ---- */

bool parse_app_event(JsonEvents *json, object &event) {
    SparkApp *app = &json->record->as.app;
    return each_field(json, event, [&](const char *key, value v) {
        if (is(key, "Spark Version"))
            app->version = text_of(json, v);
        else if (is(key, "App Name"))
            app->name = text_of(json, v);
        else if (is(key, "App ID"))
            app->id = text_of(json, v);
        else if (is(key, "App Attempt ID"))
            app->attempt = text_of(json, v);
        else if (is(key, "User"))
            app->user = text_of(json, v);
        else if (is(key, "Timestamp"))
            app->start_ms = time_of(json, v);
        return true;
    });
}

bool parse_app_end(JsonEvents *json, object &event) {
    SparkApp *app = &json->record->as.app;
    app->log_complete = 1;
    return each_field(json, event, [&](const char *key, value v) {
        if (is(key, "Timestamp")) app->end_ms = time_of(json, v);
        return true;
    });
}

/* Of Hadoop's configuration: how HDFS is read, and what a node of YARN gives to containers. */
constexpr const char *HADOOP_PROPERTIES[] = {
    "dfs.client.hedged.read.threadpool.size", "dfs.client.read.shortcircuit",        "dfs.replication",
    "yarn.nodemanager.resource.cpu-vcores",   "yarn.nodemanager.resource.memory-mb",
};

bool parse_property(JsonEvents *json, const char *key, value v, GArray *found) {
    if (is(key, "spark.driver.host")) json->record->as.app.driver_host = text_of(json, v);
    return take_property(json, PROPERTIES, key, v, found);
}

/* Once a log: out of the way of what is done for each task. */
[[gnu::noinline, gnu::cold]] bool parse_environment(JsonEvents *json, object &event) {
    SparkApp *app = &json->record->as.app;
    g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(SparkPair));
    const bool good = each_field(json, event, [&](const char *key, value v) {
        if (is(key, "JVM Information"))
            return fields(json, v, [&](const char *name, value inner) {
                return is(name, "Java Version") ? add_property(json, "java.version", inner, found) : true;
            });
        if (is(key, "Hadoop Properties"))
            return fields(json, v, [&](const char *name, value inner) {
                return take_property(json, HADOOP_PROPERTIES, name, inner, found);
            });
        if (!is(key, "Spark Properties")) return true;
        return fields(json, v, [&](const char *name, value inner) { return parse_property(json, name, inner, found); });
    });
    app->properties = sorted_pairs(json, found);
    return good;
}

/* 0 is unknown: it was not measured. */
bool parse_peaks(JsonEvents *json, value v, SparkExecutor *executor) {
    return fields(json, v, [&](const char *key, value inner) {
        for (guint i = 0; i < EXECUTOR_PEAK_COUNT; i++) {
            const size_t length = strlen(executor_peaks[i].spark);
            if (memcmp(key, executor_peaks[i].spark, length) != 0 || key[length] != '"') continue;
            const gint64 peak = number_of(inner);
            if (peak > 0) executor->peaks[i] = peak;
            break;
        }
        return true;
    });
}

/* Of an executor added or removed, of its block manager, of what it did in a stage; which it is decides what the time
 * means. */
bool parse_executor(JsonEvents *json, object &event, gint64 *time_ms) {
    SparkExecutor *executor = &json->record->as.executor;

    const auto about = [&](const char *key, value v) {
        if (is(key, "Executor ID") || is(key, "executorId"))
            executor->id = text_of(json, v);
        else if (is(key, "Host"))
            executor->host = text_of(json, v);
        else if (is(key, "Total Cores"))
            executor->cores = small_of(v);
        else if (is(key, "Maximum Memory"))
            executor->memory_bytes = number_of(v);
        else if (is(key, "Resource Profile Id"))
            executor->profile = number_of(v);
        return true;
    };

    const bool good = each_field(json, event, [&](const char *key, value v) {
        if (is(key, "Timestamp") || is(key, "time"))
            *time_ms = time_of(json, v);
        else if (is(key, "Removed Reason"))
            executor->reason = text_of(json, v);
        else if (is(key, "Executor Metrics"))
            return parse_peaks(json, v, executor);
        else if (is(key, "Executor Info") || is(key, "Block Manager ID"))
            return fields(json, v, about);
        return about(key, v);
    });
    return good && (executor->id != nullptr || broken(json, "an executor without its id"));
}

/* The driver has a block manager, and runs no tasks; where it does (a local master), it is added as an executor too. */
bool is_driver(const SparkExecutor *executor) {
    return strcmp(executor->id, "driver") == 0 || strcmp(executor->id, "<driver>") == 0;
}

bool parse_executor_event(JsonEvents *json, EventKind kind, object &event) {
    SparkExecutor *executor = &json->record->as.executor;
    gint64 time_ms = -1;
    if (!parse_executor(json, event, &time_ms)) return false;
    const bool beside = kind == EVENT_BLOCK_MANAGER_ADDED || kind == EVENT_EXECUTOR_PEAKS;
    if (beside && is_driver(executor)) json->record->kind = SPARK_KIND_COUNT;
    if (kind == EVENT_EXECUTOR_ADDED) executor->added_ms = time_ms;
    if (kind == EVENT_EXECUTOR_REMOVED) executor->removed_ms = time_ms;
    return true;
}

/* ---- what executors are given ---- */

/* A resource by its name: {"Resource Name":"memory","Amount":512,...}; memory is in MiB. */
bool parse_resource(JsonEvents *json, value v, const char *whose, GArray *others) {
    SparkProfile *profile = &json->record->as.profile;
    std::string_view name;
    double amount = -1;
    const bool good = fields(json, v, [&](const char *key, value inner) {
        if (is(key, "Resource Name"))
            name = view_of(inner);
        else if (is(key, "Amount") && inner.get_double().get(amount))
            amount = -1;
        return true;
    });
    if (!good || name.empty() || !(amount >= 0 && amount < MOST_AMOUNT)) return good;

    const gint64 bytes = (gint64)(amount * MIB);
    if (name == "memory")
        profile->memory_bytes = bytes;
    else if (name == "memoryOverhead")
        profile->overhead_bytes = bytes;
    else if (name == "offHeap")
        profile->off_heap_bytes = bytes;
    else if (name == "pyspark.memory")
        profile->python_bytes = bytes;
    else if (name == "cores")
        profile->cores = (gint32)MIN(amount, (double)G_MAXINT32);
    else if (name == "cpus")
        profile->task_cpus = amount;
    else if (others->len < OTHERS_MOST) {
        g_autofree char *key = g_strdup_printf("%s %.*s", whose, (int)name.size(), name.data());
        g_autofree char *text = g_strdup_printf("%g", amount);
        const SparkPair pair = {spark_text(json->texts, key, strlen(key)), spark_text(json->texts, text, strlen(text))};
        g_array_append_val(others, pair);
    }
    return true;
}

bool parse_profile(JsonEvents *json, object &event) {
    SparkProfile *profile = &json->record->as.profile;
    g_autoptr(GArray) others = g_array_new(FALSE, FALSE, sizeof(SparkPair));
    const auto resources = [&](value all, const char *whose) {
        return fields(json, all, [&](const char *, value one) { return parse_resource(json, one, whose, others); });
    };
    const bool good = each_field(json, event, [&](const char *key, value v) {
        if (is(key, "Resource Profile Id"))
            profile->profile = number_of(v);
        else if (is(key, "Executor Resource Requests"))
            return resources(v, "executor");
        else if (is(key, "Task Resource Requests"))
            return resources(v, "task");
        return true;
    });
    profile->others = sorted_pairs(json, others);
    return good && (profile->profile >= 0 || broken(json, "a profile of resources without its number"));
}

bool parse_exclusion(JsonEvents *json, EventKind kind, object &event) {
    SparkExclusion *exclusion = &json->record->as.exclusion;
    const bool good = each_field(json, event, [&](const char *key, value v) {
        if (is(key, "time"))
            (kind == EVENT_INCLUDED ? exclusion->back_ms : exclusion->time_ms) = time_of(json, v);
        else if (is(key, "executorId"))
            exclusion->executor = text_of(json, v);
        else if (is(key, "hostId"))
            exclusion->host = text_of(json, v);
        else if (is(key, "taskFailures") || is(key, "executorFailures"))
            exclusion->failures = number_of(v);
        else if (is(key, "stageId"))
            exclusion->stage = number_of(v);
        else if (is(key, "stageAttemptId"))
            exclusion->stage_attempt = small_of(v);
        return true;
    });
    if (!good) return false;
    return exclusion->executor != nullptr || exclusion->host != nullptr || broken(json, "nobody who is excluded");
}

bool parse_event(JsonEvents *json, EventKind kind, object &event, Bytes line) {
    switch (kind) {
    case EVENT_TASK_START:
    case EVENT_TASK_END: return parse_task(json, event, line, kind == EVENT_TASK_END);
    case EVENT_STAGE_SUBMITTED:
    case EVENT_STAGE_COMPLETED: return parse_stage(json, event);
    case EVENT_JOB_START: return parse_job_start(json, event);
    case EVENT_JOB_END: return parse_job_end(json, event);
    case EVENT_LOG_START:
    case EVENT_APP_START: return parse_app_event(json, event);
    case EVENT_APP_END: return parse_app_end(json, event);
    case EVENT_ENVIRONMENT: return parse_environment(json, event);
    case EVENT_EXECUTOR_ADDED:
    case EVENT_EXECUTOR_REMOVED:
    case EVENT_EXECUTOR_PEAKS:
    case EVENT_BLOCK_MANAGER_ADDED: return parse_executor_event(json, kind, event);
    case EVENT_PROFILE: return parse_profile(json, event);
    case EVENT_EXCLUDED:
    case EVENT_INCLUDED: return parse_exclusion(json, kind, event);
    case EVENT_QUERY_START:
    case EVENT_QUERY_END:
    case EVENT_QUERY_PLAN:
    case EVENT_QUERY_METRICS:
    case EVENT_QUERY_VALUES: return parse_query(json, kind, event);
    default: return true;
    }
}

SparkKind record_kind(EventKind kind) {
    switch (kind) {
    case EVENT_TASK_START:
    case EVENT_TASK_END: return SPARK_TASK;
    case EVENT_STAGE_SUBMITTED:
    case EVENT_STAGE_COMPLETED: return SPARK_STAGE;
    case EVENT_JOB_START:
    case EVENT_JOB_END: return SPARK_JOB;
    case EVENT_EXECUTOR_ADDED:
    case EVENT_EXECUTOR_REMOVED:
    case EVENT_EXECUTOR_PEAKS:
    case EVENT_BLOCK_MANAGER_ADDED: return SPARK_EXECUTOR;
    case EVENT_PROFILE: return SPARK_PROFILE;
    case EVENT_EXCLUDED:
    case EVENT_INCLUDED: return SPARK_EXCLUSION;
    case EVENT_QUERY_START:
    case EVENT_QUERY_END:
    case EVENT_QUERY_PLAN:
    case EVENT_QUERY_METRICS:
    case EVENT_QUERY_VALUES: return SPARK_QUERY;
    case EVENT_OTHER: return SPARK_KIND_COUNT;
    default: return SPARK_APP;
    }
}

/* Of a line that does not begin with its event's name. */
bool find_kind(JsonEvents *json, Bytes line, EventKind *kind) {
    simdjson::ondemand::document document;
    std::string_view name;
    const char *text = static_cast<const char *>(line.data);
    if (json->line.iterate(text, line.size_bytes, line.size_bytes + simdjson::SIMDJSON_PADDING).get(document))
        return broken(json, "not JSON");
    if (document.find_field_unordered("Event").get_string().get(name)) return broken(json, "not an event");
    *kind = event_kind(name.data(), name.size());
    return true;
}

/* Two events in one line: a writer died in one, and what came after went on in the same line. */
bool at_end(JsonEvents *json, simdjson::ondemand::document &document) {
    const char *rest;
    return document.current_location().get(rest) == simdjson::OUT_OF_BOUNDS || broken(json, "more than one event");
}

} // namespace

JsonEvents *json_events_new(const TaskGroups *groups) { return new JsonEvents(groups); }

void json_events_free(JsonEvents *json) { delete json; }

gboolean json_events_parse(JsonEvents *json, EventKind kind, Bytes line, EventRecord *record, const char **problem) {
    json->texts = record->texts;
    json->record = record;
    json->problem = nullptr;
    record->newest_ms = -1;
    record->kind = SPARK_KIND_COUNT;

    bool good = kind != EVENT_OTHER || find_kind(json, line, &kind);
    record->event = kind;

    if (good && kind != EVENT_OTHER) {
        record->kind = record_kind(kind);
        spark_record_init(record->kind, &record->as);
        simdjson::ondemand::document document;
        object event;
        const char *text = static_cast<const char *>(line.data);
        if (json->line.iterate(text, line.size_bytes, line.size_bytes + simdjson::SIMDJSON_PADDING).get(document) ||
            document.get_object().get(event))
            good = broken(json, "not JSON, or cut");
        else
            good = parse_event(json, kind, event, line) && at_end(json, document);
    }

    if (json->line.capacity() > KEPT_CAPACITY) json->line = simdjson::ondemand::parser();
    if (!good) *problem = json->problem;
    return good;
}
