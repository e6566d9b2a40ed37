#include "receiver/http/answer_lines.h"

#include <jansson.h>
#include <string.h>

#include "analyzer/query/shared/json_compact.h"

/* No answer is to be kept anywhere, nor to be a page, nor to be read by a page of somebody else. */
const char answer_security_lines[] = "Cache-Control: no-store\r\n"
                                     "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n"
                                     "Cross-Origin-Resource-Policy: same-origin\r\n"
                                     "Referrer-Policy: no-referrer\r\n"
                                     "X-Content-Type-Options: nosniff\r\n";

/* Our page takes all that it shows from here. What a browser keeps of it is named by its contents. */
#define PAGE_LINES(cache)                                                                                              \
    "Cache-Control: " cache "\r\n"                                                                                     \
    "Content-Security-Policy: default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; "            \
    "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "                \
    "require-trusted-types-for 'script'; trusted-types worker\r\n"                                                     \
    "Cross-Origin-Resource-Policy: same-origin\r\n"                                                                    \
    "Cross-Origin-Opener-Policy: same-origin\r\n"                                                                      \
    "Referrer-Policy: no-referrer\r\n"                                                                                 \
    "X-Content-Type-Options: nosniff\r\n"
#define GZIPPED "Content-Encoding: gzip\r\n"
const char answer_page_lines[] = GZIPPED PAGE_LINES("no-cache");
const char answer_lasting_lines[] = GZIPPED PAGE_LINES("private, max-age=31536000, immutable");
const char answer_own_lines[] = PAGE_LINES("no-store");

char *answer_content_lines(guint64 tag, gboolean gzipped) {
    g_autofree char *line =
        tag != 0 ? g_strdup_printf("ETag: W/\"%016" G_GINT64_MODIFIER "x\"\r\n", tag) : g_strdup("");
    return g_strconcat(answer_security_lines, line, tag != 0 ? "Vary: Accept-Encoding\r\n" : "",
                       gzipped ? "Content-Encoding: gzip\r\n" : "", NULL);
}

/* Tags of proxies may have lost their W/. */
gboolean answer_is_known(const char *known, guint64 tag) {
    char text[24];
    g_snprintf(text, sizeof text, "\"%016" G_GINT64_MODIFIER "x\"", tag);
    return tag != 0 && known != NULL && strstr(known, text) != NULL;
}

GBytes *answer_error_body(const char *message) { return json_compact_bytes(json_pack("{s:s}", "error", message)); }
