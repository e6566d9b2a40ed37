/* Heads of requests, queries, and whom requests may come from. */
#include <string.h>

#include "receiver/http/body.h"
#include "receiver/http/http_names.h"
#include "receiver/http/request.h"

static gboolean parse(const char *head, HttpRequest *request, int *code) {
    g_autoptr(GError) error = NULL;
    gboolean good = http_request_parse((Bytes){head, strlen(head)}, request, code, &error);
    g_assert_true(good == (error == NULL));
    return good;
}

static void test_good(void) {
    g_auto(HttpRequest) request = {0};
    int code = 0;
    g_assert_true(parse("POST /a/b?c=d&e HTTP/1.1\r\nHost: x:1\r\nORIGIN:http://x:1 \r\nContent-Length: 007\r\n"
                        "Accept:\r\nExpect: 100-continue\r\nConnection: Upgrade, Close",
                        &request, &code));
    g_assert_cmpint(request.method, ==, HTTP_POST);
    g_assert_cmpstr(request.path, ==, "/a/b");
    g_assert_cmpstr(request.query, ==, "c=d&e");
    g_assert_cmpstr(request.host, ==, "x:1");
    g_assert_cmpstr(request.origin, ==, "http://x:1");
    g_assert_cmpuint(request.body_bytes, ==, 7);
    g_assert_true(request.continues && request.chunks);
    g_assert_false(request.keep_alive);
}

static void test_spans(void) {
    g_auto(HttpRequest) request = {0};
    int code = 0;
    g_assert_true(parse("POST /v1/traces?a HTTP/1.1\r\nHost: x\r\nContent-Length: 33554432\r\n"
                        "Content-Type: application/json\r\nContent-Encoding: gzip",
                        &request, &code));
    g_assert_cmpint(request.spans, ==, HTTP_OTLP);
    g_assert_cmpuint(request.body_bytes, ==, HTTP_SPANS_MAX_BYTES);
    g_assert_cmpstr(request.content_type, ==, "application/json");
    g_assert_cmpstr(request.content_encoding, ==, "gzip");
    http_request_clear(&request);
    g_assert_true(parse("POST /v1/traces HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked", &request, &code));
    g_assert_true(request.in_chunks);
    http_request_clear(&request);
    g_assert_true(parse("POST /api/v2/spans HTTP/1.1\r\nHost: x\r\nContent-Length: 1", &request, &code));
    g_assert_cmpint(request.spans, ==, HTTP_ZIPKIN);
    http_request_clear(&request);
    g_assert_true(parse("POST /writeSpans HTTP/1.1\r\nHost: x\r\nContent-Length: 1", &request, &code));
    g_assert_cmpint(request.spans, ==, HTTP_HTRACED);
    http_request_clear(&request);
    g_assert_true(parse("GET /v1/traces HTTP/1.1\r\nHost: x", &request, &code));
    g_assert_cmpint(request.spans, ==, HTTP_NO_SPANS);
}

/* A few lines, and with their length said before. */
static void test_command(void) {
    g_auto(HttpRequest) request = {0};
    int code = 0;
    g_assert_true(parse("POST /api/v1/shell/run HTTP/1.1\r\nHost: x\r\nContent-Length: 65536", &request, &code));
    g_assert_cmpint(request.spans, ==, HTTP_COMMAND);
    http_request_clear(&request);
    g_assert_false(parse("POST /api/v1/shell/run HTTP/1.1\r\nHost: x\r\nContent-Length: 65537", &request, &code));
    g_assert_cmpint(code, ==, 413);
    g_assert_false(parse("POST /api/v1/shell/stop HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked", &request, &code));
    g_assert_cmpint(code, ==, 501);
    g_assert_true(parse("GET /api/v1/shell/output?id=1 HTTP/1.1\r\nHost: x\r\nLast-Event-ID: 17", &request, &code));
    g_assert_cmpint(request.spans, ==, HTTP_NO_SPANS);
    g_assert_cmpstr(request.last_event, ==, "17");
}

static void test_body(void) {
    static const struct {
        const char *stream;
        BodyState state;
        const char *body, *rest;
    } cases[] = {
        {"3\r\nabc\r\n00A\r\n0123456789\r\n0\r\n\r\nnext", BODY_WHOLE, "abc0123456789", "next"},
        {"0\r\n\r\n", BODY_WHOLE, "", ""},
        {"3\r\nab", BODY_MORE, "ab", ""},
        {"3\r\nabcd", BODY_BROKEN, "abc", ""},
        {"3;x=y\r\nabc", BODY_BROKEN, "", "x=y\r\nabc"},
        {"\r\n", BODY_BROKEN, "", "\n"},
        {"-3\r\nabc", BODY_BROKEN, "", "3\r\nabc"},
        {"3\nabc", BODY_BROKEN, "", "abc"},
        {"000000003\r\nabc", BODY_BROKEN, "", "\r\nabc"},
        {"0\r\nTrailer: x\r\n\r\n", BODY_BROKEN, "", "railer: x\r\n\r\n"},
        {"2000001\r\n", BODY_TOO_LARGE, "", "\n"},
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        const HttpRequest request = {.in_chunks = TRUE};
        HttpBody body;
        gsize taken;
        http_body_init(&body, &request, NULL);
        g_test_message("%s", cases[i].stream);
        g_assert_cmpint(http_body_feed(&body, (Bytes){cases[i].stream, strlen(cases[i].stream)}, &taken), ==,
                        cases[i].state);
        g_assert_cmpmem(body.bytes->data, body.bytes->len, cases[i].body, strlen(cases[i].body));
        g_assert_cmpstr(cases[i].stream + taken, ==, cases[i].rest);
        http_body_clear(&body);
    }
}

/* Bytes that are put where the body has room for them. */
static void test_body_room(void) {
    const HttpRequest plain = {.body_bytes = 20}, chunked = {.in_chunks = TRUE};
    HttpBody body;
    gsize room, taken;
    http_body_init(&body, &plain, NULL);
    memcpy(http_body_room(&body, &room), "0123456789", 10);
    g_assert_cmpuint(room, ==, 20);
    g_assert_cmpint(http_body_filled(&body, room, 10), ==, BODY_MORE);
    memcpy(http_body_room(&body, &room), "abcdefghij", 10);
    g_assert_cmpuint(room, ==, 10);
    g_assert_cmpint(http_body_filled(&body, room, 10), ==, BODY_WHOLE);
    g_assert_cmpmem(body.bytes->data, body.bytes->len, "0123456789abcdefghij", 20);

    GByteArray *again = g_byte_array_set_size(g_steal_pointer(&body.bytes), 0);
    http_body_init(&body, &chunked, again);
    g_assert_null(http_body_room(&body, &room));
    g_assert_cmpint(http_body_feed(&body, (Bytes){"5\r\nab", 5}, &taken), ==, BODY_MORE);
    memcpy(http_body_room(&body, &room), "cde", 3);
    g_assert_cmpuint(room, ==, 3);
    g_assert_cmpint(http_body_filled(&body, room, 3), ==, BODY_MORE);
    g_assert_null(http_body_room(&body, &room));
    g_assert_cmpint(http_body_feed(&body, (Bytes){"\r\n0\r\n\r\n", 7}, &taken), ==, BODY_WHOLE);
    g_assert_cmpmem(body.bytes->data, body.bytes->len, "abcde", 5);
    http_body_clear(&body);
}

/* Memory grows by what came, not by what is declared. */
static void test_body_grows(void) {
    const HttpRequest large = {.body_bytes = 32 * 1024 * 1024};
    HttpBody body;
    gsize room;
    http_body_init(&body, &large, NULL);
    http_body_room(&body, &room);
    g_assert_cmpuint(room, <=, 16 * 1024);
    http_body_filled(&body, room, 1);
    http_body_room(&body, &room);
    g_assert_cmpuint(room, <=, 16 * 1024);
    http_body_filled(&body, room, room);
    g_assert_cmpuint(body.bytes->len, ==, 1 + room);
    http_body_clear(&body);
}

static void test_what_the_peer_takes(void) {
    static const struct {
        const char *line;
        gboolean gzip;
    } cases[] = {
        {"Accept: x", FALSE},
        {"Accept-Encoding: gzip", TRUE},
        {"accept-encoding:br, GZIP ; q=0.5", TRUE},
        {"Accept-Encoding: gzip;q=0", FALSE},
        {"Accept-Encoding: gzip;q=0.0, br", FALSE},
        {"Accept-Encoding: br, zstd", FALSE},
        {"Accept-Encoding:", FALSE},
        {"Accept-Encoding: notgzip", FALSE},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_auto(HttpRequest) request = {0};
        int code = 0;
        g_autofree char *head =
            g_strdup_printf("GET / HTTP/1.1\r\nHost: x\r\n%s\r\nIf-None-Match: W/\"1\"", cases[i].line);
        g_assert_true(parse(head, &request, &code));
        g_test_message("%s", cases[i].line);
        g_assert_cmpint(request.gzip, ==, cases[i].gzip);
        g_assert_cmpstr(request.known, ==, "W/\"1\"");
    }
}

static void test_old_version(void) {
    g_auto(HttpRequest) request = {0};
    int code = 0;
    g_assert_true(parse("GET / HTTP/1.0", &request, &code));
    g_assert_false(request.keep_alive || request.chunks);
    g_assert_null(request.host);
    g_assert_null(request.query);
    http_request_clear(&request);
    g_assert_true(parse("HEAD / HTTP/1.0\r\nConnection: keep-alive", &request, &code));
    g_assert_true(request.keep_alive);
}

/* A page of somebody else may lead its reader here, and have nothing asked behind its back. */
static void test_pages_of_others(void) {
    static const struct {
        const char *lines;
        gboolean embedded;
    } cases[] = {
        {"GET / HTTP/1.1\r\nHost: x", FALSE},
        {"GET / HTTP/1.1\r\nHost: x\r\nSec-Fetch-Site: none\r\nSec-Fetch-Mode: navigate", FALSE},
        {"POST / HTTP/1.1\r\nHost: x\r\nSec-Fetch-Site: same-origin\r\nSec-Fetch-Mode: cors", FALSE},
        {"GET / HTTP/1.1\r\nHost: x\r\nsec-fetch-site: Cross-Site", TRUE},
        {"GET / HTTP/1.1\r\nHost: x\r\nSec-Fetch-Site: same-site\r\nSec-Fetch-Mode: no-cors", TRUE},
        {"GET / HTTP/1.1\r\nHost: x\r\nSec-Fetch-Dest: document\r\nSec-Fetch-Mode: navigate\r\n"
         "Sec-Fetch-Site: cross-site",
         FALSE},
        {"POST / HTTP/1.1\r\nHost: x\r\nSec-Fetch-Dest: document\r\nSec-Fetch-Mode: navigate\r\n"
         "Sec-Fetch-Site: cross-site",
         TRUE},
        {"GET / HTTP/1.1\r\nHost: x\r\nSec-Fetch-Dest: iframe\r\nSec-Fetch-Mode: navigate\r\n"
         "Sec-Fetch-Site: cross-site",
         TRUE},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_auto(HttpRequest) request = {0};
        int code = 0;
        g_assert_true(parse(cases[i].lines, &request, &code));
        g_assert_cmpint(request.embedded, ==, cases[i].embedded);
    }
}

static void test_whole_address(void) {
    g_auto(HttpRequest) request = {0};
    int code = 0;
    g_assert_true(parse("GET http://other:80/p?q HTTP/1.1\r\nHost: x", &request, &code));
    g_assert_cmpstr(request.host, ==, "other:80"); /* and not the header's */
    g_assert_cmpstr(request.path, ==, "/p");
}

static void test_bad(void) {
    static const struct {
        const char *head;
        int code;
    } cases[] = {
        {"GET /", 400},
        {"GET  / HTTP/1.1\r\nHost: x", 400},
        {"GET / HTTP/1.1 \r\nHost: x", 400},
        {"GET x HTTP/1.1\r\nHost: x", 400},
        {"GET /#a HTTP/1.1\r\nHost: x", 400},
        {"GET / HTTP/1.1", 400}, /* no Host */
        {"GET / HTTP/1.1\r\nHost: x\r\nHost: x", 400},
        {"GET / HTTP/1.1\r\nHost: x\r\nOrigin: a\r\nOrigin: b", 400},
        {"GET / HTTP/1.1\nHost: x", 400},
        {"GET / HTTP/1.1\r\nHost: x\r\n folded", 400},
        {"GET / HTTP/1.1\r\nHost : x", 400},
        {"GET / HTTP/1.1\r\nHost: x\r\nno colon", 400},
        {"GET / HTTP/1.1\r\nHost: x\r\n: empty", 400},
        {"GET / HTTP/1.1\r\nHost: x\r\nA: b\rc", 400},
        {"GET / HTTP/1.1\r\nHost: x\r\nA: \x01", 400},
        {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 1", 400},
        {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1, 1", 400},
        {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1", 400},
        {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +1", 400},
        {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length:", 400},
        {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999999999", 413},
        {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked", 501},
        {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: identity", 501},
        {"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked", 400},
        {"POST /v1/traces HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 1", 400},
        {"POST /v1/traces HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked", 400},
        {"POST /v1/traces HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked", 501},
        {"POST /v1/traces HTTP/1.0\r\nTransfer-Encoding: chunked", 501},
        {"GET /v1/traces HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked", 501},
        {"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Length: 33554433", 413},
        {"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: a\r\nContent-Type: a", 400},
        {"PUT / HTTP/1.1\r\nHost: x", 501},
        {"get / HTTP/1.1\r\nHost: x", 501},
        {"GET / HTTP/2.0\r\nHost: x", 505},
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        HttpRequest request = {0};
        int code = 0;
        g_test_message("%s", cases[i].head);
        g_assert_false(parse(cases[i].head, &request, &code));
        g_assert_cmpint(code, ==, cases[i].code);
    }

    static const char zero[] = "GET / HTTP/1.1\r\nHost: x\0y";
    HttpRequest request = {0};
    int code = 0;
    g_assert_false(http_request_parse((Bytes){zero, sizeof zero - 1}, &request, &code, NULL));
}

static HttpHeadState look_once(const char *stream, gsize size_bytes, gsize *head_bytes) {
    HttpHead head = {0};
    return http_head_look(&head, (Bytes){stream, size_bytes}, FALSE, head_bytes);
}

static void test_head_bytes(void) {
    gsize head_bytes;
    g_assert_cmpint(look_once("a\r\n\r\nb", 6, &head_bytes), ==, HEAD_WHOLE);
    g_assert_cmpuint(head_bytes, ==, 5);
    g_assert_cmpint(look_once("a\r\n\r", 4, &head_bytes), ==, HEAD_PARTIAL);
    g_assert_cmpint(look_once(NULL, 0, &head_bytes), ==, HEAD_PARTIAL);
}

static void collect(void *text, const char *name, const char *value) {
    g_string_append_printf(text, "%s=%s;", name, value);
}

static void test_queries(void) {
    static const struct {
        const char *query, *found; /* NULL: malformed */
    } cases[] = {
        {NULL, ""},          {"", ""},
        {"a=b", "a=b;"},     {"a=b&c=", "a=b;c=;"},
        {"a=b&", "a=b;"},    {"a=b=c", "a=b=c;"},
        {"a=b+c", "a=b c;"}, {"a=%2b%41", "a=+A;"},
        {"%61=b", "a=b;"},   {"a", NULL},
        {"=b", NULL},        {"a=b&&c=d", NULL},
        {"a=%", NULL},       {"a=%4", NULL},
        {"a=%zz", NULL},     {"a=b%00", NULL},
        {"a=%00b", NULL},    {"a%00=b", NULL},
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GString) found = g_string_new(NULL);
        const char *why = NULL;
        gboolean good = http_query_parse(cases[i].query, collect, found, &why);
        g_assert_cmpint(good, ==, cases[i].found != NULL);
        if (good) g_assert_cmpstr(found->str, ==, cases[i].found);
        if (!good) g_assert_nonnull(why);
    }
}

static void test_names(void) {
    static const char *const more[] = {"plumb.example.org", "*.tail.example", NULL};
    static const struct {
        const char *host;
        gboolean good;
    } cases[] = {
        {"localhost", TRUE},
        {"LocalHost:9096", TRUE},
        {"a.localhost", TRUE},
        {"127.0.0.1:9096", TRUE},
        {"10.9.8.7", TRUE},
        {"[::1]:9096", TRUE},
        {"[2001:db8::1]", TRUE},
        {"listened.example:80", TRUE},
        {"plumb.example.org.", TRUE},
        {"x.tail.example:1", TRUE},
        {"evil.example", FALSE},
        {"tail.example", FALSE},
        {"localhost.evil.example", FALSE},
        {"127.0.0.1.evil.example", FALSE},
        {"localhost:80@evil.example", FALSE},
        {"localhost:x", FALSE},
        {"[::1", FALSE},
        {"", FALSE},
        {":80", FALSE},
    };

    g_autoptr(HttpNames) names = http_names_new("listened.example:9096", more);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_test_message("%s", cases[i].host);
        g_assert_cmpint(http_names_has(names, cases[i].host), ==, cases[i].good);
    }

    g_assert_true(http_names_has(names, NULL));
    g_assert_true(http_names_has(names, g_get_host_name()));
    static const char *const any[] = {"*", NULL};
    g_autoptr(HttpNames) all = http_names_new("127.0.0.1:9096", any);
    g_assert_true(http_names_has(all, "evil.example"));
}

static void test_origins(void) {
    g_assert_true(http_origin_is_own(NULL, "a:1", FALSE));
    g_assert_true(http_origin_is_own("http://a:1", "A:1", FALSE));
    g_assert_true(http_origin_is_own("https://a", "a", FALSE));
    g_assert_false(http_origin_is_own("http://a:2", "a:1", FALSE));
    g_assert_false(http_origin_is_own("http://b", "a", FALSE));
    g_assert_false(http_origin_is_own("http://a.b", "a", FALSE));
    g_assert_false(http_origin_is_own("null", "a", FALSE));
    g_assert_false(http_origin_is_own("http://a", NULL, FALSE));
    /* What anybody on the way can have put there is not ours where we speak TLS. */
    g_assert_true(http_origin_is_own("https://a:1", "a:1", TRUE));
    g_assert_false(http_origin_is_own("http://a:1", "a:1", TRUE));
}

/* Looks at it as it comes, in pieces; what it is in the end. */
static HttpHeadState look(const GString *stream, gsize step, gboolean tickets, gsize *head_bytes) {
    HttpHead head = {0};
    HttpHeadState state = HEAD_PARTIAL;
    for (gsize n = MIN(step, stream->len); state == HEAD_PARTIAL; n = MIN(n + step, stream->len)) {
        for (gboolean again = TRUE; again; again = state == HEAD_GROWS) {
            const gsize most = head.ticket ? HTTP_TICKET_HEAD_BYTES : HTTP_HEAD_MAX_BYTES;
            state = http_head_look(&head, (Bytes){stream->str, MIN(n, most)}, tickets, head_bytes);
        }
        if (n == stream->len) break;
    }
    return state;
}

static GString *head_with(gsize before, const char *name, gsize ticket, gsize after) {
    GString *text = g_string_new("GET / HTTP/1.1\r\nA: ");
    const gsize sizes[] = {before, ticket, after};
    const char *const between[] = {name, "\r\nB: ", "\r\n\r\n"};
    for (guint i = 0; i < 3; i++) {
        g_string_set_size(text, text->len + sizes[i]);
        memset(text->str + text->len - sizes[i], 'x', sizes[i]);
        g_string_append(text, between[i]);
    }
    return text;
}

/* A ticket may be long, and nothing else: neither before it nor behind it, nor anywhere when no tickets are taken. */
static void test_tickets(void) {
    static const char ticket[] = "\r\nAuthorization: Negotiate ", lower[] = "\r\nauthorization:\tnegotiate ";
    static const struct {
        const char *name;
        gsize before, ticket, after;
        gboolean tickets, good;
    } cases[] = {
        {ticket, 10, 1000, 10, TRUE, TRUE},
        {ticket, 10, HTTP_TICKET_MAX_BYTES, 10, TRUE, TRUE},
        {lower, 10, HTTP_TICKET_MAX_BYTES, 10, TRUE, TRUE},
        {ticket, 10, HTTP_TICKET_MAX_BYTES + 1, 10, TRUE, FALSE},
        {ticket, 10, HTTP_TICKET_MAX_BYTES, 10, FALSE, FALSE},
        {ticket, 10, 1000, 10, FALSE, TRUE},
        {ticket, 8000, HTTP_TICKET_MAX_BYTES, 8000, TRUE, TRUE},
        {ticket, 8000, HTTP_TICKET_MAX_BYTES, 9000, TRUE, FALSE},
        {ticket, 10, 1000, HTTP_HEAD_MAX_BYTES, TRUE, FALSE},
        {ticket, HTTP_HEAD_MAX_BYTES, 1000, 10, TRUE, FALSE},
        {"\r\nAuthorization: Bearer ", 10, 20000, 10, TRUE, FALSE},
        {"\r\nCookie: Negotiate ", 10, 20000, 10, TRUE, FALSE},
        {"\r\nX-Authorization: Negotiate ", 10, 20000, 10, TRUE, FALSE},
    };
    static const gsize steps[] = {1000, 1009, 16384, 65536, 1000000};
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        GString *head = head_with(cases[i].before, cases[i].name, cases[i].ticket, cases[i].after);
        for (guint k = 0; k < G_N_ELEMENTS(steps); k++) {
            gsize head_bytes;
            g_test_message("case %u, step %zu", i, steps[k]);
            g_assert_cmpint(look(head, steps[k], cases[i].tickets, &head_bytes), ==,
                            cases[i].good ? HEAD_WHOLE : HEAD_TOO_LONG);
            if (cases[i].good) g_assert_cmpuint(head_bytes, ==, head->len);
        }
        g_string_free(head, TRUE);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/http/request/good", test_good);
    g_test_add_func("/http/request/spans", test_spans);
    g_test_add_func("/http/request/command", test_command);
    g_test_add_func("/http/request/body", test_body);
    g_test_add_func("/http/request/body/room", test_body_room);
    g_test_add_func("/http/request/body/grows", test_body_grows);
    g_test_add_func("/http/request/what_the_peer_takes", test_what_the_peer_takes);
    g_test_add_func("/http/request/old", test_old_version);
    g_test_add_func("/http/request/pages_of_others", test_pages_of_others);
    g_test_add_func("/http/request/whole_address", test_whole_address);
    g_test_add_func("/http/request/bad", test_bad);
    g_test_add_func("/http/request/head_bytes", test_head_bytes);
    g_test_add_func("/http/request/tickets", test_tickets);
    g_test_add_func("/http/request/queries", test_queries);
    g_test_add_func("/http/names", test_names);
    g_test_add_func("/http/origins", test_origins);
    return g_test_run();
}
