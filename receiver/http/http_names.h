/* Which names this server is asked by, against pages of others in a reader's browser. Such a page can have its own name
 * point here (DNS rebinding), and then read answers as if they were its own: but the browser sends that name as Host.
 * And it can send a POST without reading the answer: but the browser says as Origin where the page is from.
 *
 * An address in figures is no name that anybody can point elsewhere, so it is always good. */
#pragma once

#include <glib.h>

typedef struct HttpNames HttpNames;
/* listen: the address in the configuration, "host:port". more: names beside it, the machine's own and localhost; "*.x"
 * stands for all that end in ".x", "*" for any. */
HttpNames *http_names_new(const char *listen, const char *const *more);
void http_names_free(HttpNames *names);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HttpNames, http_names_free)
/* host: as in the request, with or without a port; NULL: an old client sent none, and no browser is one. */
gboolean http_names_has(const HttpNames *names, const char *host);
/* Is a page of this origin one of those that we serve at this host? NULL: no page asks. secret: under TLS, where a page
 * that came without it is somebody else's; else a proxy may have added it. */
gboolean http_origin_is_own(const char *origin, const char *host, gboolean secret);
