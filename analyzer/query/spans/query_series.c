/* One figure of functions over time, as a document. */

#include "analyzer/query/spans/series.h"
#include "analyzer/query/spans/span_answers.h"
#include "common/base/allowance.h"

static void add_points(json_t *object, const GArray *points, const char *value, const char *calls) {
    json_t *at = json_array(), *values = json_array(), *counts = json_array();
    for (guint i = 0; i < points->len; i++) {
        const SeriesPoint *point = &g_array_index(points, SeriesPoint, i);
        json_array_append_new(at, json_integer(point->step));
        json_array_append_new(values, json_integer(point->value));
        json_array_append_new(counts, json_count(point->calls));
    }
    json_object_set_new(object, "at", at);
    json_object_set_new(object, value, values);
    json_object_set_new(object, calls, counts);
}

json_t *series_head_json(const SeriesFound *found) {
    json_t *head = json_object();
    json_add_steps(head, &found->steps);
    json_object_set_new(head, "field", json_string(found->field_name));
    return head;
}

json_t *series_row_json(const Asked *asked, const SeriesFound *found, const Series *series) {
    json_t *object = json_object();
    const gboolean by_host = found->filter.by_host;
    json_object_set_new(object, "function", json_name(asked->archive, series->function));
    json_object_set_new(object, "role", json_string(role_name(series->role)));
    if (by_host) json_object_set_new(object, "host", json_name(asked->archive, series->host));
    if (by_host && series->ratio > 0) json_object_set_new(object, "ratio", json_real(series->ratio));
    return object;
}

static json_t *peers_json(Archive *archive, const SeriesPeers *peers) {
    json_t *object = json_object();
    json_object_set_new(object, "function", json_name(archive, peers->function));
    json_object_set_new(object, "role", json_string(role_name(peers->role)));
    add_points(object, peers->medians, "medians", "hosts");
    return object;
}

void series_add_peers(const Asked *asked, const SeriesFound *found, json_t *answer) {
    if (found->peers == NULL) return;
    json_t *usual = json_array();
    json_object_set_new(answer, "peers", usual);
    for (guint i = 0; i < found->peers->len && allowance_goes_on(); i++)
        json_array_append_new(usual, peers_json(asked->archive, found->peers->pdata[i]));
}

/* As text for a caller that wants text: the numbers of 3,000 hosts take ten times as much as part of a document. */
static void add_series(json_t *answer, const Asked *asked, const SeriesFound *found) {
    const guint n = answer_rows(asked, found->limit, found->all->len, answer);
    json_t *list = json_array();
    json_object_set_new(answer, "series", list);
    if (asked->rows != NULL) {
        asked->rows->member = "series";
        json_put_bytes(&asked->rows->text, "[", 1);
    }
    for (guint i = 0; i < n && allowance_goes_on(); i++) {
        const Series *series = found->all->pdata[i];
        json_t *row = series_row_json(asked, found, series);
        add_points(row, series->points, "values", "calls");
        if (asked->rows == NULL) {
            json_array_append_new(list, row);
            continue;
        }
        if (i > 0) json_put_bytes(&asked->rows->text, ",", 1);
        json_put_value(&asked->rows->text, row);
        json_decref(row);
    }
    if (asked->rows != NULL) json_put_bytes(&asked->rows->text, "]", 1);
}

json_t *answer_series(const Asked *asked, GError **error) {
    g_auto(SeriesFound) found = {0};
    if (!series_find(asked, &found, error)) return NULL;
    json_t *answer = series_head_json(&found);
    add_series(answer, asked, &found);
    series_add_peers(asked, &found, answer);
    return answer;
}
