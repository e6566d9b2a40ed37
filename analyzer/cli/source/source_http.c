#include <curl/curl.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/cli/source/source_kinds.h"
#include "common/base/error.h"
#include "common/base/secret_file.h"

#define CONNECT_TIMEOUT_S 10L
/* An answer may take minutes (verify), so there is no limit on the whole; a lost peer is noticed by TCP keep-alive. */
#define KEEPALIVE_S 15L
/* How a plumbd that runs us for its page is asked (receiver/shell/shell.h). */
#define LOCAL_SOCKET "unix:@"
/* curl goes on without a ticket when there is none. */
#define NO_TICKET "; no ticket was taken (--negotiate): check `klist`, and that the KDC is reached"

typedef struct HttpSource {
    char *base;          /* "http://127.0.0.1:9096" */
    const char *address; /* the end of it: "127.0.0.1:9096" */
    char *socket;        /* of an address "unix:@NAME": NAME, which is in no file system; else NULL */
    WireSecurity security;
    struct curl_slist *headers; /* with the token; NULL: none */
    CURL *curl;
    char message[CURL_ERROR_SIZE];
} HttpSource;

/* What comes back: the body of an error or of a document is collected, that of an export goes on to the sink. */
typedef struct Reply {
    HttpSource *source;
    GString *body;
    const SourceSink *sink; /* NULL: collect */
    GError *error;          /* set by the sink */
    gboolean stopped;
    gboolean too_large;
} Reply;

char *source_http_base(const char *server, gboolean secure, GError **error) {
    const char *host = server;
    if (g_str_has_prefix(server, "http://")) host = server + strlen("http://");
    if (g_str_has_prefix(server, "https://")) host = server + strlen("https://");
    const char *scheme = secure || g_str_has_prefix(server, "https://") ? "https://" : "http://";
    g_autofree char *bare = g_strdup(host);
    gsize length = strlen(bare);
    if (length > 0 && bare[length - 1] == '/') bare[length - 1] = '\0';
    gboolean bracketed = bare[0] == '[' && strchr(bare, ']') != NULL;
    const char *after = bracketed ? strchr(bare, ']') + 1 : bare + strcspn(bare, ":");
    guint64 port = 0;
    gboolean has_port = *after == ':';
    gboolean good = *bare != '\0' && after != bare && (*after == '\0' || has_port) &&
                    strpbrk(bare, "/?#@ \t") == NULL &&
                    (!has_port || g_ascii_string_to_unsigned(after + 1, 10, 1, 65535, &port, NULL));
    if (!good) {
        fail(error, PLUMB_ERROR_CONFIG, "'%s' is no address: give HOST:PORT, for example " SOURCE_DEFAULT_SERVER,
             server);
        return NULL;
    }
    return g_strconcat(scheme, bare, has_port ? NULL : ":" SOURCE_DEFAULT_PORT, NULL);
}

static void http_close(void *data) {
    HttpSource *self = data;
    curl_slist_free_all(self->headers);
    curl_easy_cleanup(self->curl);
    curl_global_cleanup();
    g_free(self->base);
    g_free(self->socket);
    g_free(self);
}

static gboolean add_token(HttpSource *self, GError **error) {
    char *token = wire_token_read(self->security.token_file, error);
    if (token == NULL) return FALSE;
    const gsize size_bytes = strlen(token);
    char *header = g_strconcat("Authorization: Bearer ", token, NULL);
    secret_free(token, size_bytes);
    self->headers = curl_slist_append(NULL, header);
    secret_free(header, strlen(header));
    return TRUE;
}

void *source_http_open(const SourceOptions *options, GError **error) {
    const gboolean local = g_str_has_prefix(options->server, LOCAL_SOCKET);
    char *base = local ? g_strdup("http://localhost")
                       : source_http_base(options->server, wire_security_is_set(&options->security), error);
    if (base == NULL) return NULL;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    HttpSource *self = g_new0(HttpSource, 1);
    self->base = base;
    self->address = strstr(base, "://") + strlen("://");
    self->socket = local ? g_strdup(options->server + strlen(LOCAL_SOCKET)) : NULL;
    self->security = options->security;
    if (options->security.token_file != NULL && !add_token(self, error)) {
        http_close(self);
        return NULL;
    }
    self->curl = curl_easy_init();
    g_assert(self->curl != NULL);
    return self;
}

static char *url_of(HttpSource *self, const Ask *ask) {
    GString *url = g_string_new(self->base);
    g_string_append_printf(url, "/api/v1/%s", ask->question);
    for (guint i = 0; i < ask->names->len; i++) {
        char *name = curl_easy_escape(self->curl, g_ptr_array_index(ask->names, i), 0);
        char *value = curl_easy_escape(self->curl, g_ptr_array_index(ask->values, i), 0);
        g_string_append_printf(url, "%c%s=%s", i == 0 ? '?' : '&', name, value);
        curl_free(name);
        curl_free(value);
    }
    return g_string_free(url, FALSE);
}

static long status_of(HttpSource *self) {
    long status = 0;
    curl_easy_getinfo(self->curl, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

static guint64 most_answer_bytes(void) {
    const long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    if (pages <= 0 || page_bytes <= 0) return SOURCE_MAX_ANSWER_BYTES;
    return MIN(SOURCE_MAX_ANSWER_BYTES, (guint64)pages * (guint64)page_bytes / 4);
}

static size_t take(char *data, size_t size, size_t n, void *arg) {
    Reply *reply = arg;
    size_t size_bytes = size * n;
    const gboolean good = status_of(reply->source) == 200;
    if (reply->sink != NULL && good) {
        if (reply->sink->write(reply->sink->arg, (Bytes){data, size_bytes}, &reply->error)) return size_bytes;
        reply->stopped = TRUE;
        return 0;
    }
    if (reply->body->len + size_bytes > (good ? most_answer_bytes() : SOURCE_MAX_REFUSAL_BYTES)) {
        reply->too_large = TRUE;
        return 0;
    }
    g_string_append_len(reply->body, data, (gssize)size_bytes);
    return size_bytes;
}

static void fail_transfer(HttpSource *self, CURLcode code, GError **error) {
    const char *what = self->message[0] != '\0' ? self->message : curl_easy_strerror(code);
    const char *address = self->address;
    const gboolean secure = g_str_has_prefix(self->base, "https://");
    if (code == CURLE_COULDNT_CONNECT || code == CURLE_OPERATION_TIMEDOUT) {
        fail(
            error, PLUMB_ERROR_PEER,
            "no plumbd answers at %s (%s). Start it (script/server, or: systemctl start plumbd), check its listen.http "
            "setting, name another with --server HOST:PORT, or read a store folder with --store DIR",
            address, what);
    } else if (code == CURLE_COULDNT_RESOLVE_HOST) {
        fail(error, PLUMB_ERROR_PEER, "%s: %s; check the name given to --server or in PLUMB_SERVER", address, what);
    } else if (code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CONNECT_ERROR ||
               code == CURLE_SSL_CACERT_BADFILE || code == CURLE_SSL_CERTPROBLEM) {
        fail(error, PLUMB_ERROR_PEER, "%s: TLS: %s; check the name in the address, --ca, --certificate and --key",
             address, what);
    } else if (!secure && (code == CURLE_GOT_NOTHING || code == CURLE_RECV_ERROR)) {
        fail(error, PLUMB_ERROR_PEER,
             "%s closed the connection without an answer: is it listen.http, not listen.thrift, and does it speak TLS "
             "(--ca FILE, or https://)?",
             address);
    } else {
        fail(error, PLUMB_ERROR_PEER, "the connection to plumbd at %s broke: %s%s", address, what,
             secure ? "; check whether it wants a certificate (--certificate, --key)" : "");
    }
}

static gboolean fail_too_large(HttpSource *self, GError **error) {
    const char *address = self->address;
    const long status = status_of(self);
    if (status != 200)
        return fail(error, PLUMB_ERROR_PEER, "%s answered HTTP %ld with over %u bytes: is it another program's port?",
                    address, status, SOURCE_MAX_REFUSAL_BYTES);
    g_autofree char *most = g_format_size_full(most_answer_bytes(), G_FORMAT_SIZE_IEC_UNITS);
    return fail(error, PLUMB_ERROR_LIMIT,
                "the answer of %s is over %s, more than this machine has "
                "memory for: ask for less with --limit, --since and --until",
                address, most);
}

static void set_security(HttpSource *self) {
    const WireSecurity *security = &self->security;
    curl_easy_setopt(self->curl, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2);
    if (security->ca != NULL) {
        curl_easy_setopt(self->curl, CURLOPT_CAINFO, security->ca);
        curl_easy_setopt(self->curl, CURLOPT_CAPATH, NULL);
    }
    if (security->certificate != NULL) curl_easy_setopt(self->curl, CURLOPT_SSLCERT, security->certificate);
    if (security->key != NULL) curl_easy_setopt(self->curl, CURLOPT_SSLKEY, security->key);
    if (!security->negotiate) return;
    curl_easy_setopt(self->curl, CURLOPT_HTTPAUTH, (long)CURLAUTH_NEGOTIATE);
    curl_easy_setopt(self->curl, CURLOPT_USERPWD, ":"); /* whoever the ticket is of */
}

/* Performs the request for url; FALSE also when the transfer is whole but the server said no. body: of a POST, JSON or
 * empty; NULL: GET. */
static gboolean perform(HttpSource *self, const char *url, const char *body, Reply *reply, GError **error) {
    curl_easy_reset(self->curl);
    self->message[0] = '\0';

    curl_easy_setopt(self->curl, CURLOPT_URL, url);
    curl_easy_setopt(self->curl, CURLOPT_ERRORBUFFER, self->message);
    curl_easy_setopt(self->curl, CURLOPT_PROTOCOLS_STR, "http,https");
    if (self->socket != NULL) curl_easy_setopt(self->curl, CURLOPT_ABSTRACT_UNIX_SOCKET, self->socket);
    set_security(self);
    curl_easy_setopt(self->curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(self->curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(self->curl, CURLOPT_CONNECTTIMEOUT, CONNECT_TIMEOUT_S);
    curl_easy_setopt(self->curl, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(self->curl, CURLOPT_TCP_KEEPIDLE, KEEPALIVE_S);
    curl_easy_setopt(self->curl, CURLOPT_TCP_KEEPINTVL, KEEPALIVE_S);
    curl_easy_setopt(self->curl, CURLOPT_USERAGENT, "plumb");

    /* Where the length comes first, nothing of what is too long is read. Exports go to a file, of any length. */
    if (reply->sink == NULL) curl_easy_setopt(self->curl, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)most_answer_bytes());
    curl_easy_setopt(self->curl, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(self->curl, CURLOPT_WRITEDATA, reply);
    struct curl_slist json = {(char *)"Content-Type: application/json", self->headers};
    if (body != NULL) curl_easy_setopt(self->curl, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(self->curl, CURLOPT_HTTPHEADER, body != NULL ? &json : self->headers);

    CURLcode code = curl_easy_perform(self->curl);
    if (reply->error != NULL) {
        g_propagate_error(error, g_steal_pointer(&reply->error));
        return FALSE;
    }

    if (reply->stopped) return fail(error, PLUMB_ERROR_IO, "stopped");
    if (reply->too_large || code == CURLE_FILESIZE_EXCEEDED) return fail_too_large(self, error);
    if (code != CURLE_OK) fail_transfer(self, code, error);
    return code == CURLE_OK;
}

static PlumbError code_of(long status) {
    switch (status) {
    case 401:
    case 403: return PLUMB_ERROR_PEER;
    case 400: return PLUMB_ERROR_INPUT;
    case 404: return PLUMB_ERROR_NOT_FOUND;
    case 503: return PLUMB_ERROR_BUSY;
    case 507: return PLUMB_ERROR_NO_SPACE;
    default: return PLUMB_ERROR_PEER;
    }
}

static json_t *parse(HttpSource *self, const GString *body, GError **error) {
    json_error_t why;
    json_t *document = json_loadb(body->str, body->len, JSON_ALLOW_NUL, &why);
    if (document != NULL && json_is_object(document)) return document;
    json_decref(document);
    fail(error, PLUMB_ERROR_PEER, "%s did not answer like plumbd (%s): is it another program's port?", self->address,
         document == NULL ? why.text : "no JSON object");
    return NULL;
}

static gboolean fail_status(HttpSource *self, const GString *body, GError **error) {
    long status = status_of(self);
    json_t *document = json_loadb(body->str, body->len, JSON_ALLOW_NUL, NULL);
    const char *text = json_string_value(json_object_get(document, "error"));
    if (text != NULL) {
        const gboolean unknown = status == 401 && self->security.negotiate;
        fail(error, code_of(status), "%s%s", text, unknown ? NO_TICKET : "");
    } else {
        fail(error, PLUMB_ERROR_PEER, "%s answered HTTP %ld without a reason: is it another program's port?",
             self->address, status);
    }
    json_decref(document);
    return FALSE;
}

static json_t *request(HttpSource *self, const Ask *ask, const char *body, GError **error) {
    g_autofree char *url = url_of(self, ask);
    Reply reply = {.source = self, .body = g_string_new(NULL)};
    json_t *document = NULL;
    if (perform(self, url, body, &reply, error)) {
        if (status_of(self) == 200) {
            document = parse(self, reply.body, error);
        } else {
            fail_status(self, reply.body, error);
        }
    }
    g_string_free(reply.body, TRUE);
    return document;
}

static json_t *http_ask(void *self, const Ask *ask, GError **error) { return request(self, ask, FALSE, error); }

static gboolean http_export(void *data, const Ask *ask, const SourceSink *sink, GError **error) {
    HttpSource *self = data;
    g_autofree char *url = url_of(self, ask);
    Reply reply = {.source = self, .body = g_string_new(NULL), .sink = sink};
    gboolean done = perform(self, url, NULL, &reply, error);
    if (done && status_of(self) != 200) done = fail_status(self, reply.body, error);
    g_string_free(reply.body, TRUE);
    return done;
}

static gboolean http_flush(void *self, guint64 *closed_traces, GError **error) {
    g_autoptr(Ask) ask = ask_new("flush");
    json_t *document = request(self, ask, "", error);
    if (document == NULL) return FALSE;
    *closed_traces = (guint64)json_integer_value(json_object_get(document, "closed_traces"));
    json_decref(document);
    return TRUE;
}

static json_t *http_mark(void *self, const json_t *mark, GError **error) {
    g_autoptr(Ask) ask = ask_new("marks");
    char *body = json_dumps(mark, JSON_COMPACT);
    json_t *document = request(self, ask, body, error);
    free(body);
    return document;
}

const SourceKind source_http_kind = {http_ask, http_export, http_flush, http_mark, http_close};
