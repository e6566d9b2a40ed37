#include "analyzer/cli/export/chosen.h"

#include <string.h>

#include "common/base/error.h"

/* Rows of a page: some 300 bytes each. */
#define PAGE_TRACES "2000"

static const char *const filters[] = {"function", "path", "host", "role", "min-duration", "max-duration", "annotation"};

gboolean chosen_is_asked(const Invocation *invocation) {
    for (guint i = 0; i < G_N_ELEMENTS(filters) - 1; i++)
        if (option_text(invocation, filters[i]) != NULL) return TRUE;
    return option_list(invocation, "annotation")[0] != NULL;
}

static Ask *ask_for_page(const Invocation *invocation, const char *since, const char *after) {
    Ask *ask = invocation_ask(invocation, "traces");
    for (guint i = 0; since != NULL && i < ask->names->len; i++) {
        if (strcmp(g_ptr_array_index(ask->names, i), "since") != 0) continue;
        g_ptr_array_remove_index(ask->names, i);
        g_ptr_array_remove_index(ask->values, i);
        break;
    }
    if (since != NULL) ask_add(ask, "since", since);
    if (after != NULL) ask_add(ask, "after", after);
    ask_add(ask, "limit", PAGE_TRACES);
    return ask;
}

gboolean chosen_visit(const Invocation *invocation, Source *source, const char *since, const ChosenVisitor *visitor,
                      GError **error) {
    g_autofree char *after = NULL;
    do {
        g_autoptr(Ask) ask = ask_for_page(invocation, since, after);
        json_auto_t *page = source_ask(source, ask, error);
        if (page == NULL) return FALSE;
        gsize i;
        const json_t *row;
        json_array_foreach((json_t *)field_list(page, "traces"), i, row) {
            if (!visitor->visit(visitor->arg, row, error)) return FALSE;
        }
        g_free(after);
        after = g_strdup(json_string_value(json_object_get(page, "next")));
    } while (after != NULL);
    return TRUE;
}

/* NULL and TRUE: it is gone. */
static gboolean ask_for_part(Source *source, const char *trace, gint64 part, json_t **document, GError **error) {
    g_autoptr(Ask) ask = ask_new("trace");
    g_autoptr(GError) why = NULL;
    g_autofree char *number = g_strdup_printf("%" G_GINT64_FORMAT, part);
    ask_add(ask, "id", trace);
    ask_add(ask, "limit", "0");
    ask_add(ask, "part", number);
    *document = source_ask(source, ask, &why);
    if (*document != NULL || g_error_matches(why, PLUMB_ERROR, PLUMB_ERROR_NOT_FOUND)) return TRUE;
    g_propagate_error(error, g_steal_pointer(&why));
    return FALSE;
}

gboolean chosen_load(Source *source, const char *trace, const ChosenSpans *spans, GError **error) {
    for (gint64 part = 1, parts = 1; part <= parts;) {
        json_t *loaded;
        if (!ask_for_part(source, trace, part, &loaded, error)) return FALSE;
        json_auto_t *document = loaded;
        if (document == NULL) return TRUE;
        if (!spans->take(spans->arg, document, error)) return FALSE;
        parts = field_int(document, "parts");
        part += MAX(field_int(document, "parts_shown"), 1);
    }
    return TRUE;
}

gboolean chosen_is_cut(const json_t *document) { return json_is_true(json_object_get(document, "more")); }

gboolean chosen_fail_cut(const json_t *document, GError **error) {
    return fail(error, PLUMB_ERROR_LIMIT,
                "trace %s has more spans than an answer holds: leave out what chooses traces, but for the period",
                field_text(document, "trace"));
}
