#include "analyzer/archive/kept_columns.h"

#include <string.h>

#include "common/base/error.h"

gboolean kept_columns_parse(const char *const *entries, KeptColumns *keep, GError **error) {
    static const char one[] = "annotation:";
    KeptColumns parsed = {DROPPED_IDS | DROPPED_ANNOTATIONS | DROPPED_NOTES, NULL};
    g_autoptr(GPtrArray) keys = g_ptr_array_new_with_free_func(g_free);

    for (; *entries != NULL; entries++) {
        if (strcmp(*entries, "ids") == 0) {
            parsed.dropped &= ~(guint32)DROPPED_IDS;
        } else if (strcmp(*entries, "annotations") == 0) {
            parsed.dropped &= ~(guint32)DROPPED_ANNOTATIONS;
        } else if (strcmp(*entries, "notes") == 0) {
            parsed.dropped &= ~(guint32)DROPPED_NOTES;
        } else if (g_str_has_prefix(*entries, one) && strlen(*entries) > strlen(one)) {
            g_ptr_array_add(keys, g_strdup(*entries + strlen(one)));
        } else {
            return fail(error, PLUMB_ERROR_CONFIG, "'%s' is nothing to keep: ids, annotations, annotation:KEY or notes",
                        *entries);
        }
    }

    g_ptr_array_add(keys, NULL);
    parsed.keys = (char **)g_ptr_array_free(g_steal_pointer(&keys), FALSE);
    *keep = parsed;
    return TRUE;
}

void kept_columns_clear(KeptColumns *keep) {
    g_strfreev(keep->keys);
    *keep = (KeptColumns){0, NULL};
}
