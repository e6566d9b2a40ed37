#include "receiver/http/page.h"

#include <gio/gio.h>
#include <string.h>

#define RESOURCES "/io/plumbline/page"

static const char *type_of(const char *path) {
    static const struct {
        const char *ending, *type;
    } types[] = {{".html", "text/html; charset=utf-8"},
                 {".js", "text/javascript; charset=utf-8"},
                 {".css", "text/css; charset=utf-8"},
                 {".svg", "image/svg+xml"}};
    for (guint i = 0; i < G_N_ELEMENTS(types); i++)
        if (g_str_has_suffix(path, types[i].ending)) return types[i].type;
    return NULL;
}

gboolean page_find(const char *path, PageFile *file) {
    const char *type = strcmp(path, "/") == 0 ? type_of(".html") : type_of(path);
    if (type == NULL) return FALSE;
    g_autofree char *name = g_strconcat(RESOURCES, strcmp(path, "/") == 0 ? "/index.html" : path, NULL);
    GBytes *gzipped = g_resources_lookup_data(name, G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
    if (gzipped == NULL) return FALSE;
    *file = (PageFile){type, g_str_has_prefix(path, "/assets/"), gzipped};
    return TRUE;
}

void page_file_clear(PageFile *file) { g_clear_pointer(&file->gzipped, g_bytes_unref); }
