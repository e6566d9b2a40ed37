#include <string.h>

#include "analyzer/load/results/report.h"

static const char *const compared[] = {"p50", "p90", "p99"};

static const json_t *kind_of(const json_t *report, const char *name) {
    gsize i;
    const json_t *kind;
    json_array_foreach(json_object_get(report, "kinds"), i, kind) {
        if (strcmp(json_string_value(json_object_get(kind, "kind")), name) == 0) return kind;
    }
    return NULL;
}

static json_int_t number(const json_t *object, const char *key) {
    return json_integer_value(json_object_get(object, key));
}

/* Intervals that do not meet: the difference is more than chance within the runs. */
static const char *verdict(const json_t *before, const json_t *after) {
    const json_t *before_high = json_object_get(before, "high_ns"), *after_high = json_object_get(after, "high_ns");
    if (json_is_integer(before_high) && number(after, "low_ns") > json_integer_value(before_high)) return "slower";
    if (json_is_integer(after_high) && number(before, "low_ns") > json_integer_value(after_high)) return "faster";
    return "undecided";
}

static void compare_kind(const char *name, const json_t *before, const json_t *after, json_t *changes) {
    for (guint i = 0; i < G_N_ELEMENTS(compared); i++) {
        const json_t *a = json_object_get(json_object_get(before, "latency"), compared[i]);
        const json_t *b = json_object_get(json_object_get(after, "latency"), compared[i]);
        if (a == NULL || b == NULL) continue;
        json_t *change = json_pack("{s:s, s:s, s:I, s:I, s:s}", "kind", name, "quantile", compared[i], "before_ns",
                                   number(a, "ns"), "after_ns", number(b, "ns"), "verdict", verdict(a, b));
        if (number(a, "ns") > 0)
            json_object_set_new(change, "ratio", json_real((double)number(b, "ns") / (double)number(a, "ns")));
        json_array_append_new(changes, change);
    }
}

static gboolean same_plan(const json_t *before, const json_t *after) {
    return json_equal(json_object_get(json_object_get(before, "head"), "plan-hash"),
                      json_object_get(json_object_get(after, "head"), "plan-hash")) != 0;
}

json_t *load_compare(json_t *before, json_t *after) {
    json_t *changes = json_array();
    gsize i;
    const json_t *kind;
    json_array_foreach(json_object_get(before, "kinds"), i, kind) {
        const char *name = json_string_value(json_object_get(kind, "kind"));
        const json_t *other = kind_of(after, name);
        if (other != NULL) compare_kind(name, kind, other, changes);
    }
    const gboolean same_loop =
        json_is_true(json_object_get(before, "closed")) == json_is_true(json_object_get(after, "closed"));
    return json_pack("{s:b, s:b, s:o, s:o, s:o}", "same_plan", (int)same_plan(before, after), "same_loop",
                     (int)same_loop, "before", before, "after", after, "changes", changes);
}
