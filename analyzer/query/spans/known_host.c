/* A host of which nothing is stored is most often mistyped: an empty answer would mislead. One whose traces were
 * removed is known, since statistics of functions never go: what asked for it once, asks for it without an error. */
#include <string.h>

#include "analyzer/archive/read/distinct.h"
#include "analyzer/query/spans/functions.h"
#include "common/base/allowance.h"
#include "common/base/error.h"
#include "common/base/nearest.h"

/* NULL: none is close enough to be meant. */
static const char *nearest_host(Archive *archive, const GArray *hosts, const char *host) {
    const char *nearest = NULL;
    for (guint i = 0; i < hosts->len && allowance_goes_on(); i++) {
        const char *const both[] = {dict_text(archive_dict(archive), g_array_index(hosts, guint32, i), NULL), nearest,
                                    NULL};
        const char *nearer = nearest_name(host, both);
        if (nearer != NULL) nearest = nearer;
    }
    return nearest;
}

static gboolean fail_unknown(Archive *archive, const char *host, GError **error) {
    g_autoptr(GArray) hosts = g_array_new(FALSE, FALSE, sizeof(guint32));
    if (!archive_distinct_hosts(archive, hosts, error)) return FALSE;
    const char *nearest = nearest_host(archive, hosts, host);
    if (!allowance_check(error)) return FALSE;
    if (nearest == NULL)
        return fail(error, PLUMB_ERROR_NOT_FOUND,
                    "no call of a host \"%s\" is stored: plumb functions --by host shows which there are", host);
    return fail(error, PLUMB_ERROR_NOT_FOUND, "no call of a host \"%s\" is stored: did you mean \"%s\"?", host,
                nearest);
}

gboolean known_host(const Asked *asked, GError **error) {
    const char *host = params_text(asked->params, "host");
    if (host == NULL) return TRUE;
    const guint32 id = dict_find(archive_dict(asked->archive), host, strlen(host));
    gboolean known = FALSE;
    if (id != 0 && !archive_has_host(asked->archive, id, &known, error)) return FALSE;
    return known || fail_unknown(asked->archive, host, error);
}
