/* Every stored statistic recomputed from the stored spans. */
#include "analyzer/archive/spark/spark.h"
#include "analyzer/archive/verify/verify.h"
#include "analyzer/query/shared/question.h"
#include "analyzer/query/spans/span_answers.h"

#define REPORTS_MAX 100u

static void report(void *arg, const char *what) {
    json_t *list = arg;
    if (json_array_size(list) < REPORTS_MAX) json_array_append_new(list, json_string(what));
}

json_t *answer_verify(const Asked *asked, GError **error) {
    json_auto_t *list = json_array();
    VerifyHooks hooks = {.report = report, .arg = list};
    VerifyResult result;
    if (!archive_verify(asked->archive, &hooks, &result, error)) return NULL;
    guint64 records = 0, differences = 0;
    if (!archive_spark_verify(asked->archive, &hooks, &records, &differences, error)) return NULL;
    json_t *answer = json_object();
    json_object_set_new(answer, "traces", json_count(result.traces));
    json_object_set_new(answer, "spans", json_count(result.spans));
    json_object_set_new(answer, "rows", json_count(result.rows));
    json_object_set_new(answer, "differences", json_count(result.differences + differences));
    json_object_set_new(answer, "rows_by_number", json_count(result.unchecked));
    json_object_set_new(answer, "cut_records", json_count(result.cut));
    json_object_set_new(answer, "records", json_count(records));
    json_object_set(answer, "reports", list);
    return answer;
}
