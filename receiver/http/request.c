#include "receiver/http/request.h"

#include <string.h>

#include "common/base/error.h"

typedef struct Text {
    const char *at;
    gsize length;
} Text;

static gboolean text_is(Text text, const char *word) {
    return text.length == strlen(word) && g_ascii_strncasecmp(text.at, word, text.length) == 0;
}

/* What is before the first 'separator', which is taken off too; FALSE: there is none. */
static gboolean cut_at(Text *rest, char separator, Text *before) {
    const char *found = memchr(rest->at, separator, rest->length);
    if (found == NULL) return FALSE;
    *before = (Text){rest->at, (gsize)(found - rest->at)};
    *rest = (Text){found + 1, rest->length - before->length - 1};
    return TRUE;
}

static Text trim(Text text) {
    while (text.length > 0 && (text.at[0] == ' ' || text.at[0] == '\t')) text = (Text){text.at + 1, text.length - 1};
    while (text.length > 0 && (text.at[text.length - 1] == ' ' || text.at[text.length - 1] == '\t')) text.length--;
    return text;
}

static gboolean refuse(int *code, int with, GError **error, const char *why) {
    *code = with;
    return fail(error, PLUMB_ERROR_INPUT, "%s", why);
}

/* With the empty line at its end; 0: it is not whole yet. */
static gsize head_bytes_of(Bytes stream) {
    if (stream.size_bytes == 0) return 0; /* no bytes may lie nowhere */
    const char *end = memmem(stream.data, stream.size_bytes, "\r\n\r\n", 4);
    return end == NULL ? 0 : (gsize)(end - (const char *)stream.data) + 4;
}

/* How many bytes of it are a ticket: what follows "Authorization: Negotiate". */
static gsize ticket_bytes(Bytes head) {
    static const char begin[] = "\r\nauthorization:", scheme[] = "negotiate ";
    const char *at = head.data, *end = at + head.size_bytes;
    const char *last = at + MIN(head.size_bytes, HTTP_HEAD_MAX_BYTES);
    while (at < last && (at = memmem(at, (gsize)(last - at), "\r\n", 2)) != NULL) {
        const gsize left = (gsize)(end - at);
        if (left >= sizeof begin - 1 && g_ascii_strncasecmp(at, begin, sizeof begin - 1) == 0) break;
        at += 2;
    }
    if (at == NULL || at >= last) return 0;

    at += sizeof begin - 1;
    while (at < end && (*at == ' ' || *at == '\t')) at++;
    if ((gsize)(end - at) < sizeof scheme || g_ascii_strncasecmp(at, scheme, sizeof scheme - 1) != 0) return 0;
    at += sizeof scheme - 1;
    const char *ends = memchr(at, '\r', (gsize)(end - at));
    return (gsize)((ends != NULL ? ends : end) - at);
}

HttpHeadState http_head_look(HttpHead *head, Bytes stream, gboolean tickets, gsize *head_bytes) {
    const gsize from = head->seen < 3 ? 0 : head->seen - 3; /* its end may have been half here */
    const gsize rest = head_bytes_of((Bytes){(const guint8 *)stream.data + from, stream.size_bytes - from});
    const gsize size = rest > 0 ? from + rest : stream.size_bytes;
    head->seen = stream.size_bytes;
    *head_bytes = size;
    const gsize least = rest > 0 ? size : size + 1; /* that it has when it is whole */
    if (least > HTTP_HEAD_MAX_BYTES) {
        const gsize ticket = tickets ? ticket_bytes((Bytes){stream.data, size}) : 0;
        if (ticket > HTTP_TICKET_MAX_BYTES || least - ticket > HTTP_HEAD_MAX_BYTES) return HEAD_TOO_LONG;
        if (!head->ticket && rest == 0) {
            head->ticket = TRUE;
            return HEAD_GROWS;
        }
    }
    return rest > 0 ? HEAD_WHOLE : HEAD_PARTIAL;
}

/* ---- the first line ---- */

static gboolean parse_method(Text word, HttpRequest *request, int *code, GError **error) {
    static const char *const names[] = {[HTTP_GET] = "GET", [HTTP_HEAD] = "HEAD", [HTTP_POST] = "POST"};
    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        if (word.length != strlen(names[i]) || memcmp(word.at, names[i], word.length) != 0) continue;
        request->method = (HttpMethod)i;
        return TRUE;
    }
    return refuse(code, 501, error, "no such method here: use GET, HEAD or POST");
}

static gboolean parse_version(Text word, HttpRequest *request, int *code, GError **error) {
    if (!text_is(word, "HTTP/1.1") && !text_is(word, "HTTP/1.0"))
        return refuse(code, 505, error, "the first line must end in HTTP/1.1 or HTTP/1.0");
    request->chunks = request->keep_alive = word.at[word.length - 1] == '1';
    return TRUE;
}

/* "/path?query", or the whole address, whose host counts then. */
static gboolean parse_target(Text target, HttpRequest *request, int *code, GError **error) {
    static const char scheme[] = "http://";
    if (target.length >= sizeof scheme - 1 && g_ascii_strncasecmp(target.at, scheme, sizeof scheme - 1) == 0) {
        target = (Text){target.at + sizeof scheme - 1, target.length - (sizeof scheme - 1)};
        const char *path = memchr(target.at, '/', target.length);
        const gsize length = path == NULL ? target.length : (gsize)(path - target.at);
        request->host = g_strndup(target.at, length);
        target = path == NULL ? (Text){"/", 1} : (Text){path, target.length - length};
    }
    if (target.length == 0 || target.at[0] != '/' || memchr(target.at, '#', target.length) != NULL)
        return refuse(code, 400, error, "the address must begin with / and have no #");

    Text path;
    if (cut_at(&target, '?', &path))
        request->query = g_strndup(target.at, target.length);
    else
        path = target;
    request->path = g_strndup(path.at, path.length);
    return TRUE;
}

static HttpSpans spans_of(const HttpRequest *request) {
    if (request->method != HTTP_POST) return HTTP_NO_SPANS;
    if (strcmp(request->path, "/v1/traces") == 0) return HTTP_OTLP;
    if (g_str_has_prefix(request->path, "/api/v1/shell/") || strcmp(request->path, "/api/v1/marks") == 0)
        return HTTP_COMMAND;
    if (strcmp(request->path, "/writeSpans") == 0) return HTTP_HTRACED;
    return strcmp(request->path, "/api/v2/spans") == 0 ? HTTP_ZIPKIN : HTTP_NO_SPANS;
}

static gboolean brings_spans(const HttpRequest *request) {
    return request->spans == HTTP_OTLP || request->spans == HTTP_ZIPKIN || request->spans == HTTP_HTRACED;
}

static gboolean parse_first(Text line, HttpRequest *request, int *code, GError **error) {
    Text method, target;
    if (!cut_at(&line, ' ', &method) || !cut_at(&line, ' ', &target) || memchr(line.at, ' ', line.length) != NULL)
        return refuse(code, 400, error, "the first line must be a method, an address and HTTP/1.1");
    if (!parse_method(method, request, code, error) || !parse_version(line, request, code, error) ||
        !parse_target(target, request, code, error))
        return FALSE;
    request->spans = spans_of(request);
    return TRUE;
}

/* ---- the other lines ---- */
typedef struct Seen {
    gboolean host, length, origin, type, encoding, authorization, cookie;
    gboolean other_site, navigation, document; /* what the browser says of who has it asked */
} Seen;

static gboolean parse_length(Text value, Seen *seen, HttpRequest *request, int *code, GError **error) {
    if (seen->length) return refuse(code, 400, error, "two Content-Length");
    seen->length = TRUE;
    const gsize most = brings_spans(request) ? HTTP_SPANS_MAX_BYTES : HTTP_BODY_MAX_BYTES;
    if (request->in_chunks) return refuse(code, 400, error, "Content-Length beside Transfer-Encoding");
    if (value.length == 0) return refuse(code, 400, error, "Content-Length must be a number");
    for (gsize i = 0; i < value.length; i++) {
        if (!g_ascii_isdigit(value.at[i])) return refuse(code, 400, error, "Content-Length must be a number");
        request->body_bytes = request->body_bytes * 10 + (gsize)(value.at[i] - '0');
        if (request->body_bytes > most) return refuse(code, 413, error, "the body is too large");
    }
    return TRUE;
}

static gboolean parse_coding(Text value, const Seen *seen, HttpRequest *request, int *code, GError **error) {
    if (!brings_spans(request) || !text_is(value, "chunked") || !request->chunks)
        return refuse(code, 501, error, "Transfer-Encoding: send the body with its Content-Length");
    if (seen->length || request->in_chunks)
        return refuse(code, 400, error, "Transfer-Encoding beside Content-Length, or twice");
    request->in_chunks = TRUE;
    return TRUE;
}

static void parse_connection(Text value, HttpRequest *request) {
    for (Text word; value.length > 0;) {
        if (!cut_at(&value, ',', &word)) {
            word = value;
            value.length = 0;
        }
        word = trim(word);
        if (text_is(word, "close")) request->keep_alive = FALSE;
        if (text_is(word, "keep-alive") && !request->chunks) request->keep_alive = TRUE;
    }
}

static gboolean set_once(char **field, gboolean *seen, Text value) {
    if (*seen) return FALSE;
    *seen = TRUE;
    if (*field == NULL) *field = g_strndup(value.at, value.length);
    return TRUE;
}

/* How much the peer wants one of "gzip, br;q=0.5": 0 to 1. */
static double weight_of(Text value, const char *wanted) {
    double weight = 0;
    for (Text one, name; value.length > 0;) {
        if (!cut_at(&value, ',', &one)) {
            one = value;
            value.length = 0;
        }
        if (!cut_at(&one, ';', &name)) {
            name = one;
            one.length = 0;
        }
        if (!text_is(trim(name), wanted)) continue;
        g_autofree char *rest = g_strndup(one.at, one.length);
        const char *q = strstr(rest, "q=");
        weight = MAX(weight, q == NULL ? 1 : g_ascii_strtod(q + 2, NULL));
    }
    return weight;
}

static void parse_types(Text value, HttpRequest *request) {
    const double open = weight_of(value, "application/openmetrics-text");
    request->open_metrics = open > 0 && open >= weight_of(value, "text/plain");
}

static gboolean is_name(Text text) {
    for (gsize i = 0; i < text.length; i++)
        if (!g_ascii_isalnum(text.at[i]) && strchr("!#$%&'*+-.^_`|~", text.at[i]) == NULL) return FALSE;
    return text.length > 0;
}

/* Fetch metadata: every browser sends it over TLS and to loopback, and no page can change it. */
static void parse_fetch(Text name, Text value, Seen *seen) {
    if (text_is(name, "Sec-Fetch-Site")) seen->other_site = text_is(value, "cross-site") || text_is(value, "same-site");
    if (text_is(name, "Sec-Fetch-Mode")) seen->navigation = text_is(value, "navigate");
    if (text_is(name, "Sec-Fetch-Dest")) seen->document = text_is(value, "document");
}

static gboolean parse_line(Text line, Seen *seen, HttpRequest *request, int *code, GError **error) {
    Text name;
    if (!cut_at(&line, ':', &name) || !is_name(name))
        return refuse(code, 400, error, "a header must be a name, a colon and a value, in one line");
    const Text value = trim(line);

    if (text_is(name, "Host") && !set_once(&request->host, &seen->host, value))
        return refuse(code, 400, error, "two Host");
    if (text_is(name, "Origin") && !set_once(&request->origin, &seen->origin, value))
        return refuse(code, 400, error, "two Origin");
    if (text_is(name, "Authorization") && !set_once(&request->authorization, &seen->authorization, value))
        return refuse(code, 400, error, "two Authorization");
    if (text_is(name, "Cookie") && !set_once(&request->cookie, &seen->cookie, value))
        return refuse(code, 400, error, "two Cookie");
    if (text_is(name, "Content-Length")) return parse_length(value, seen, request, code, error);
    if (text_is(name, "Transfer-Encoding")) return parse_coding(value, seen, request, code, error);
    if (text_is(name, "Content-Type") && !set_once(&request->content_type, &seen->type, value))
        return refuse(code, 400, error, "two Content-Type");
    if (text_is(name, "Content-Encoding") && !set_once(&request->content_encoding, &seen->encoding, value))
        return refuse(code, 400, error, "two Content-Encoding");
    if (text_is(name, "Accept-Encoding")) request->gzip = weight_of(value, "gzip") > 0;
    if (text_is(name, "Accept")) parse_types(value, request);
    if (text_is(name, "If-None-Match") && request->known == NULL) request->known = g_strndup(value.at, value.length);
    if (text_is(name, "Last-Event-ID") && request->last_event == NULL)
        request->last_event = g_strndup(value.at, value.length);
    if (text_is(name, "Connection")) parse_connection(value, request);
    parse_fetch(name, value, seen);
    if (text_is(name, "Expect") && text_is(value, "100-continue")) request->continues = request->chunks;
    return TRUE;
}

/* Lines end in "\r\n", and no other control character but the tab is in them. */
static gboolean cut_line(Text *rest, Text *line) {
    if (!cut_at(rest, '\r', line)) {
        *line = *rest;
        rest->length = 0;
    } else if (rest->length == 0 || rest->at[0] != '\n') {
        return FALSE;
    } else {
        *rest = (Text){rest->at + 1, rest->length - 1};
    }
    for (gsize i = 0; i < line->length; i++)
        if (((guchar)line->at[i] < ' ' && line->at[i] != '\t') || line->at[i] == 0x7f) return FALSE;
    return TRUE;
}

static gboolean parse(Text rest, HttpRequest *request, int *code, GError **error) {
    static const char control[] = "a control character, or a line that does not end in CR LF";
    Seen seen = {0};
    Text line;
    if (!cut_line(&rest, &line)) return refuse(code, 400, error, control);
    if (!parse_first(line, request, code, error)) return FALSE;
    while (rest.length > 0) {
        if (!cut_line(&rest, &line)) return refuse(code, 400, error, control);
        if (!parse_line(line, &seen, request, code, error)) return FALSE;
    }
    request->embedded = seen.other_site && !(seen.navigation && seen.document && request->method == HTTP_GET);
    if (request->chunks && !seen.host) return refuse(code, 400, error, "no Host");
    return TRUE;
}

gboolean http_request_parse(Bytes head, HttpRequest *request, int *code, GError **error) {
    g_auto(HttpRequest) parsed = {0};
    if (!parse((Text){head.data, head.size_bytes}, &parsed, code, error)) return FALSE;
    *request = parsed;
    parsed = (HttpRequest){0};
    return TRUE;
}

static void wipe(char *secret) {
    if (secret != NULL) explicit_bzero(secret, strlen(secret));
    g_free(secret);
}

void http_request_forget_login(HttpRequest *request) {
    wipe(request->authorization);
    request->authorization = NULL;
}

void http_request_clear(HttpRequest *request) {
    g_free(request->content_type);
    g_free(request->content_encoding);
    g_free(request->path);
    g_free(request->query);
    g_free(request->host);
    g_free(request->origin);
    wipe(request->authorization);
    wipe(request->cookie);
    g_free(request->refused);
    g_free(request->known);
    g_free(request->last_event);
    *request = (HttpRequest){0};
}

/* ---- answers ---- */

const char *http_reason(int code) {
    switch (code) {
    case 200: return "OK";
    case 202: return "Accepted";
    case 304: return "Not Modified";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 413: return "Content Too Large";
    case 415: return "Unsupported Media Type";
    case 421: return "Misdirected Request";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 501: return "Not Implemented";
    case 503: return "Service Unavailable";
    case 505: return "HTTP Version Not Supported";
    default: return "Internal Server Error";
    }
}

/* ---- the query ---- */

/* NULL, and *why: malformed. */
static char *decode(Text text, const char **why) {
    g_autofree char *decoded = g_malloc(text.length + 1);
    gsize n = 0;
    for (gsize i = 0; i < text.length; i++, n++) {
        decoded[n] = text.at[i] == '+' ? ' ' : text.at[i];
        if (text.at[i] != '%') continue;
        const int high = i + 2 < text.length ? g_ascii_xdigit_value(text.at[i + 1]) : -1;
        const int low = i + 2 < text.length ? g_ascii_xdigit_value(text.at[i + 2]) : -1;
        *why = high < 0 || low < 0 ? "two hexadecimal digits must follow a %" : "%00 stands for no character";
        if (high < 0 || low < 0 || high + low == 0) return NULL;
        decoded[n] = (char)(high << 4 | low);
        i += 2;
    }
    decoded[n] = '\0';
    return g_steal_pointer(&decoded);
}

static gboolean parse_pair(Text pair, HttpQueryAdd add, void *arg, const char **why) {
    Text name;
    *why = "write name=value, joined by &";
    if (!cut_at(&pair, '=', &name) || name.length == 0) return FALSE;
    g_autofree char *name_text = decode(name, why);
    g_autofree char *value = name_text == NULL ? NULL : decode(pair, why);
    if (value == NULL) return FALSE;
    add(arg, name_text, value);
    return TRUE;
}

gboolean http_query_parse(const char *query, HttpQueryAdd add, void *arg, const char **why) {
    if (query == NULL || query[0] == '\0') return TRUE;
    Text rest = {query, strlen(query)}, pair;
    while (cut_at(&rest, '&', &pair))
        if (!parse_pair(pair, add, arg, why)) return FALSE;
    return rest.length == 0 || parse_pair(rest, add, arg, why);
}
