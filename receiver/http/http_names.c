#include "receiver/http/http_names.h"

#include <arpa/inet.h>
#include <string.h>
#include <unistd.h>

#define NAME_MAX_BYTES 256

struct HttpNames {
    GHashTable *names;   /* a set: char *, in small letters */
    GPtrArray *suffixes; /* char *: ".example.org" */
};

/* The name without port, brackets and dot at the end, in small letters. NULL: that is no name with a port. */
static char *name_of(const char *host) {
    gsize length = strlen(host);
    const char *end = host[0] == '[' ? strchr(host, ']') : NULL;
    if (host[0] == '[' && end == NULL) return NULL;
    const char *name = end != NULL ? host + 1 : host;
    const char *after = end != NULL ? end + 1 : host + strcspn(host, ":");
    length = (gsize)((end != NULL ? end : after) - name);
    if (*after == ':') after += 1 + strspn(after + 1, "0123456789");
    if (*after != '\0' || length == 0) return NULL;
    if (length > 1 && name[length - 1] == '.') length--;
    return g_ascii_strdown(name, (gssize)length);
}

static gboolean is_figures(const char *name) {
    guint8 address[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, name, address) == 1 || inet_pton(AF_INET6, name, address) == 1;
}

static void add(HttpNames *names, const char *host) {
    if (strcmp(host, "*") == 0 || g_str_has_prefix(host, "*.")) {
        g_ptr_array_add(names->suffixes, g_ascii_strdown(host + 1, -1));
        return;
    }
    char *name = name_of(host);
    if (name != NULL) g_hash_table_add(names->names, name);
}

/* What the machine calls itself, whole and without its domain. */
static void add_own(HttpNames *names) {
    char name[NAME_MAX_BYTES];
    if (gethostname(name, sizeof name) != 0) return;
    name[sizeof name - 1] = '\0';
    add(names, name);
    name[strcspn(name, ".")] = '\0';
    add(names, name);
}

HttpNames *http_names_new(const char *listen, const char *const *more) {
    HttpNames *names = g_new0(HttpNames, 1);
    names->names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    names->suffixes = g_ptr_array_new_with_free_func(g_free);
    add(names, "localhost");
    add(names, "*.localhost");
    add(names, listen);
    add_own(names);
    for (; more != NULL && *more != NULL; more++) add(names, *more);
    return names;
}

void http_names_free(HttpNames *names) {
    if (!names) return;
    g_hash_table_unref(names->names);
    g_ptr_array_unref(names->suffixes);
    g_free(names);
}

gboolean http_names_has(const HttpNames *names, const char *host) {
    if (host == NULL) return TRUE;
    g_autofree char *name = name_of(host);
    if (name == NULL) return FALSE;
    if (is_figures(name) || g_hash_table_contains(names->names, name)) return TRUE;
    for (guint i = 0; i < names->suffixes->len; i++)
        if (g_str_has_suffix(name, g_ptr_array_index(names->suffixes, i))) return TRUE;
    return FALSE;
}

gboolean http_origin_is_own(const char *origin, const char *host, gboolean secret) {
    static const char *const schemes[] = {"https://", "http://"};
    if (origin == NULL) return TRUE;
    for (guint i = 0; host != NULL && i < (secret ? 1 : G_N_ELEMENTS(schemes)); i++)
        if (g_str_has_prefix(origin, schemes[i]) && g_ascii_strcasecmp(origin + strlen(schemes[i]), host) == 0)
            return TRUE;
    return FALSE;
}
