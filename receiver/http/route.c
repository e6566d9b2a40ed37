#include "receiver/http/route.h"

#include <string.h>

static gboolean fits(const char *pattern, const char *path, const char **rest) {
    const gsize length = strlen(pattern);
    if (pattern[length - 1] != '*') {
        *rest = "";
        return strcmp(pattern, path) == 0;
    }
    *rest = path + length - 1;
    return strncmp(pattern, path, length - 1) == 0 && **rest != '\0' && strchr(*rest, '/') == NULL;
}

const Route *route_find(const Route *table, const char *path, const char **rest) {
    for (; table->path != NULL; table++)
        if (fits(table->path, path, rest)) return table;
    return NULL;
}

gboolean route_takes(const Route *route, HttpMethod method) {
    return route->use == NULL || (method == HTTP_POST) == route->post;
}
