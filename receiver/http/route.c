#include "receiver/http/route.h"

#include <string.h>

static gboolean fits(const char *pattern, const char *path, const char **rest) {
    const char *star = strchr(pattern, '*');
    *rest = "";
    if (star == NULL) return strcmp(pattern, path) == 0;
    const gsize begin = (gsize)(star - pattern), end = strlen(star + 1), length = strlen(path);
    if (strncmp(pattern, path, begin) != 0 || length <= begin + end) return FALSE;
    *rest = path + begin;
    const gsize name = length - begin - end;
    return memchr(*rest, '/', name) == NULL && strcmp(*rest + name, star + 1) == 0;
}

static const Route *first_route(const Route *table, const char *path, const char **rest) {
    for (; table->path != NULL; table++)
        if (fits(table->path, path, rest)) return table;
    return NULL;
}

const Route *route_find(const Route *table, const char *path, HttpMethod method, const char **rest) {
    const Route *first = first_route(table, path, rest);
    if (first == NULL || route_takes(first, method)) return first;
    for (const Route *other = first + 1; other->path != NULL; other++)
        if (strcmp(other->path, first->path) == 0 && route_takes(other, method)) return other;
    return first;
}

gboolean route_takes(const Route *route, HttpMethod method) {
    return route->use == NULL || (method == HTTP_POST) == route->post;
}
