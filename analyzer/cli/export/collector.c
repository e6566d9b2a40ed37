#include "analyzer/cli/export/collector.h"

#include <curl/curl.h>
#include <jansson.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/base/harmless.h"
#include "common/base/secret_file.h"

#define CONNECT_TIMEOUT_S 10L
#define REQUEST_TIMEOUT_S 60L
#define PATIENCE_NS       (5 * NS_PER_MINUTE)
/* A request on its way when told to stop: what was taken shall be known to be. */
#define END_TIMEOUT_NS      (5 * NS_PER_SEC)
#define FIRST_WAIT_S        1
#define LONGEST_WAIT_S      32
#define LONGEST_ASKED_S     300 /* whatever Retry-After says */
#define MOST_ANSWER_BYTES   (64u * 1024)
#define DEFAULT_PATH        "/v1/traces"
#define HEADER_NAME_LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

struct Collector {
    CollectorOptions options;
    char *url;
    struct curl_slist *headers;
    CURL *curl;
    GString *answer;
    gboolean answered; /* it has been there before */
    gboolean refused;
    gint64 stopped_ns; /* when a request on its way first met a stop; 0: it has not */
    CollectorCounts counts;
    char message[CURL_ERROR_SIZE];
};

/* ---- begin and end ---- */

static gboolean set_url(Collector *collector, const char *text, GError **error) {
    CURLU *url = curl_url();
    char *scheme = NULL, *path = NULL, *user = NULL, *whole = NULL;

    gboolean good = curl_url_set(url, CURLUPART_URL, text, 0) == CURLUE_OK &&
                    curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
                    (strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0) &&
                    curl_url_get(url, CURLUPART_USER, &user, 0) != CURLUE_OK;
    if (good && curl_url_get(url, CURLUPART_PATH, &path, 0) == CURLUE_OK && strcmp(path, "/") == 0)
        curl_url_set(url, CURLUPART_PATH, DEFAULT_PATH, 0);
    good = good && curl_url_get(url, CURLUPART_URL, &whole, 0) == CURLUE_OK;
    if (good) collector->url = g_strdup(whole);

    curl_free(scheme);
    curl_free(path);
    curl_free(user);
    curl_free(whole);
    curl_url_cleanup(url);
    return good || fail(error, PLUMB_ERROR_CONFIG,
                        "--to '%s' is no address: give http://HOST:4318 or https://HOST/PATH; names and tokens belong "
                        "in the file of --to-headers",
                        text);
}

static gboolean add_header(Collector *collector, const char *line, GError **error) {
    const gsize name = strspn(line, HEADER_NAME_LETTERS);
    if (*line == '\0' || *line == '#') return TRUE;
    if (name == 0 || line[name] != ':')
        return fail(error, PLUMB_ERROR_CONFIG, "--to-headers %s: a line is not 'Name: value'",
                    collector->options.headers);
    collector->headers = curl_slist_append(collector->headers, line);
    return TRUE;
}

static gboolean read_headers(Collector *collector, GError **error) {
    gsize size_bytes;
    char *text = secret_file_read(collector->options.headers, &size_bytes, error);
    if (text == NULL) return FALSE;
    gboolean good = TRUE;
    char *rest = text;
    for (char *line; good && (line = strsep(&rest, "\n")) != NULL;)
        good = add_header(collector, g_strstrip(line), error);
    secret_free(text, size_bytes);
    return good;
}

Collector *collector_new(const CollectorOptions *options, GError **error) {
    curl_global_init(CURL_GLOBAL_DEFAULT);
    g_autoptr(Collector) collector = g_new0(Collector, 1);
    collector->options = *options;
    collector->answer = g_string_new(NULL);
    collector->curl = curl_easy_init();
    g_assert(collector->curl != NULL);
    collector->headers = curl_slist_append(NULL, "Content-Type: application/json");
    collector->headers = curl_slist_append(collector->headers, "Expect:");
    if (!set_url(collector, options->url, error)) return NULL;
    if (options->headers != NULL && !read_headers(collector, error)) return NULL;
    return g_steal_pointer(&collector);
}

void collector_free(Collector *collector) {
    if (collector == NULL) return;
    for (struct curl_slist *at = collector->headers; at != NULL; at = at->next)
        explicit_bzero(at->data, strlen(at->data));
    curl_slist_free_all(collector->headers);
    curl_easy_cleanup(collector->curl);
    curl_global_cleanup();
    g_string_free(collector->answer, TRUE);
    g_free(collector->counts.said);
    g_free(collector->url);
    g_free(collector);
}

const CollectorCounts *collector_counts(const Collector *collector) { return &collector->counts; }

/* ---- one request ---- */

/* What is beyond the limit is left out: it is for a person. */
static size_t take(char *data, size_t size, size_t n, void *arg) {
    Collector *collector = arg;
    const gsize room = MOST_ANSWER_BYTES - collector->answer->len;
    g_string_append_len(collector->answer, data, (gssize)MIN(size * n, room));
    return size * n;
}

/* Called about once a second, and as bytes go or come. Ends a request that has sent nothing yet at once. */
static int watch(void *arg, curl_off_t total_down, curl_off_t down, curl_off_t total_up, curl_off_t up) {
    Collector *collector = arg;
    (void)total_down, (void)down, (void)total_up;
    if (!*collector->options.stop) return 0;
    const gint64 now_ns = clock_monotonic_ns(clock_system());
    if (collector->stopped_ns == 0) collector->stopped_ns = now_ns;
    return up == 0 || now_ns - collector->stopped_ns >= END_TIMEOUT_NS;
}

static CURLcode post(Collector *collector, const char *body, gsize size_bytes) {
    CURL *curl = collector->curl;
    curl_easy_reset(curl);
    collector->message[0] = '\0';
    g_string_truncate(collector->answer, 0);

    curl_easy_setopt(curl, CURLOPT_URL, collector->url);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, collector->message);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1); /* one request at a time needs no more */
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, watch);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, collector);
    curl_easy_setopt(curl, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2);
    if (collector->options.ca != NULL) {
        curl_easy_setopt(curl, CURLOPT_CAINFO, collector->options.ca);
        curl_easy_setopt(curl, CURLOPT_CAPATH, NULL);
    }
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, CONNECT_TIMEOUT_S);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, REQUEST_TIMEOUT_S);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "plumb");

    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, collector->headers);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size_bytes);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, collector);
    collector->counts.requests++;
    return curl_easy_perform(curl);
}

/* {"partialSuccess": {"rejectedSpans": "3", "errorMessage"}}; all else that is good says nothing. */
static void note_answer(Collector *collector) {
    json_auto_t *answer = json_loadb(collector->answer->str, collector->answer->len, 0, NULL);
    const json_t *partial = json_object_get(answer, "partialSuccess");
    const json_t *rejected = json_object_get(partial, "rejectedSpans");
    const char *message = json_string_value(json_object_get(partial, "errorMessage"));
    const gint64 n = json_is_string(rejected) ? g_ascii_strtoll(json_string_value(rejected), NULL, 10)
                                              : (gint64)json_integer_value(rejected);
    collector->counts.rejected_spans += (guint64)MAX(n, 0);
    if (message == NULL || *message == '\0') return;
    g_free(collector->counts.said);
    collector->counts.said = harmless_line(message);
}

/* One that answered before and ends a handshake is about to end, or to begin. */
static gboolean is_passing(const Collector *collector, CURLcode code, long status) {
    if (code == CURLE_SSL_CONNECT_ERROR) return collector->answered;
    if (code == CURLE_OK) return status == 429 || status == 502 || status == 503 || status == 504;
    return code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_OPERATION_TIMEDOUT ||
           code == CURLE_GOT_NOTHING || code == CURLE_RECV_ERROR || code == CURLE_SEND_ERROR ||
           code == CURLE_PARTIAL_FILE;
}

static gboolean fail_send(Collector *collector, CURLcode code, long status, GError **error) {
    collector->refused = TRUE;
    if (code != CURLE_OK)
        return fail(error, PLUMB_ERROR_PEER, "%s: %s", collector->url,
                    collector->message[0] != '\0' ? collector->message : curl_easy_strerror(code));
    g_autofree char *said = harmless_line(collector->answer->str);
    const char *hint = status == 401 || status == 403 ? "; a token goes into the file of --to-headers"
                       : status == 404                ? "; the path of OTLP is mostly /v1/traces"
                                                      : "";
    return fail(error, PLUMB_ERROR_PEER, "%s answered HTTP %ld: %s%s", collector->url, status, said, hint);
}

gboolean collector_refused(const Collector *collector) { return collector->refused; }

gboolean collector_wait(const Collector *collector, gint64 ns) {
    const Clock *clock = clock_system();
    const gint64 until_ns = clock_monotonic_ns(clock) + ns;
    for (gint64 left_ns; !*collector->options.stop && (left_ns = until_ns - clock_monotonic_ns(clock)) > 0;) {
        const struct timespec piece = timespec_of(MIN(left_ns, NS_PER_SEC / 4)); /* a signal may come just before it */
        nanosleep(&piece, NULL);
    }
    return !*collector->options.stop;
}

static gint64 wait_of(const Collector *collector, guint repeats) {
    curl_off_t asked_s = 0;
    curl_easy_getinfo(collector->curl, CURLINFO_RETRY_AFTER, &asked_s);
    if (asked_s > 0) return MIN((gint64)asked_s, LONGEST_ASKED_S);
    return MIN(FIRST_WAIT_S << MIN(repeats, 10), LONGEST_WAIT_S);
}

static gboolean fail_stopped(const Collector *collector, GError **error) {
    return fail(error, PLUMB_ERROR_PEER, "stopped; what %s has not taken was not sent", collector->url);
}

gboolean collector_send(Collector *collector, const char *body, gsize size_bytes, GError **error) {
    const Clock *clock = clock_system();
    const gint64 begin_ns = clock_monotonic_ns(clock);
    for (guint repeats = 0;; repeats++) {
        long status = 0;
        const CURLcode code = post(collector, body, size_bytes);
        curl_easy_getinfo(collector->curl, CURLINFO_RESPONSE_CODE, &status);
        if (code == CURLE_OK && status >= 200 && status < 300) {
            collector->answered = TRUE;
            note_answer(collector);
            return TRUE;
        }

        if (code == CURLE_ABORTED_BY_CALLBACK) return fail_stopped(collector, error);
        const gboolean nobody = code != CURLE_OK && !collector->answered;
        const gboolean patient =
            collector->options.persistent || (!nobody && clock_monotonic_ns(clock) - begin_ns < PATIENCE_NS);
        if (!is_passing(collector, code, status) || !patient) return fail_send(collector, code, status, error);
        collector->counts.repeats++;
        if (!collector_wait(collector, wait_of(collector, repeats) * NS_PER_SEC)) return fail_stopped(collector, error);
    }
}
