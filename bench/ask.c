/* Readers that ask plumbd without pause, each over a connection of its own that stays:
 *     bench_ask HOST:PORT READERS [SECONDS]
 * stdin has what to ask, lines of a name, a tab and a path, up to an empty one; each reader goes through all of them,
 * from another one on. Ends at the end of stdin or after so many seconds, and prints how long the answers took, by
 * name, and what asking cost this process: little, so that what is measured beside it is plumbd. */
#include <curl/curl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/base/clock.h"

#define READERS_MOST 1000
#define POLL_MS      1000

typedef struct Question {
    char *url;
    GArray *times; /* double, ms; of all questions of that name */
} Question;

typedef struct Reader {
    CURL *curl;
    guint at; /* the question under way */
    gint64 begun_ns;
} Reader;

typedef struct Asking {
    CURLM *multi;
    GArray *questions; /* Question */
    GHashTable *times; /* name -> GArray, owned */
    GPtrArray *names;  /* in the order of their first questions; borrowed */
    guint64 answers;
} Asking;

static gint64 mono_ns(void) { return clock_monotonic_ns(clock_system()); }

/* ---- what to ask ---- */

static void add_question(Asking *asking, const char *address, const char *name, const char *path) {
    GArray *times = g_hash_table_lookup(asking->times, name);
    if (times == NULL) {
        times = g_array_new(FALSE, FALSE, sizeof(double));
        char *key = g_strdup(name);
        g_hash_table_insert(asking->times, key, times);
        g_ptr_array_add(asking->names, key);
    }
    Question question = {g_strdup_printf("http://%s%s", address, path), times};
    g_array_append_val(asking->questions, question);
}

static void read_questions(Asking *asking, const char *address) {
    char line[4096];
    while (fgets(line, sizeof line, stdin) != NULL && g_strchomp(line)[0] != '\0') {
        char *path = strchr(line, '\t');
        if (path == NULL) continue;
        *path++ = '\0';
        add_question(asking, address, line, path);
    }
}

/* ---- asking ---- */

static size_t throw_away(char *bytes, size_t size, size_t n, void *arg) {
    (void)bytes;
    (void)arg;
    return size * n;
}

static void ask_next(Asking *asking, Reader *reader) {
    reader->at = (reader->at + 1) % asking->questions->len;
    curl_easy_setopt(reader->curl, CURLOPT_URL, g_array_index(asking->questions, Question, reader->at).url);
    reader->begun_ns = mono_ns();
    curl_multi_add_handle(asking->multi, reader->curl);
}

static void reader_start(Asking *asking, Reader *reader, guint number) {
    *reader = (Reader){.curl = curl_easy_init(), .at = number};
    curl_easy_setopt(reader->curl, CURLOPT_WRITEFUNCTION, throw_away);
    curl_easy_setopt(reader->curl, CURLOPT_PRIVATE, reader);
    curl_easy_setopt(reader->curl, CURLOPT_NOSIGNAL, 1L);
    ask_next(asking, reader);
}

/* FALSE: it is no answer. What was asked for may have expired (404), too many may wait (503). */
static gboolean take_answer(Asking *asking, Reader *reader, CURLcode result) {
    const Question *question = &g_array_index(asking->questions, Question, reader->at);
    long code = 0;
    curl_easy_getinfo(reader->curl, CURLINFO_RESPONSE_CODE, &code);
    if (result != CURLE_OK || (code != 200 && code != 404 && code != 503)) {
        fprintf(stderr, "bench_ask: %s: %ld %s\n", question->url, code, curl_easy_strerror(result));
        return FALSE;
    }
    double ms = (double)(mono_ns() - reader->begun_ns) / NS_PER_MS;
    if (code != 503) g_array_append_val(question->times, ms);
    if (code != 503) asking->answers++;
    curl_multi_remove_handle(asking->multi, reader->curl);
    return TRUE;
}

/* Until 'until_ns' or the end of stdin. */
static gboolean ask_on(Asking *asking, gint64 until_ns) {
    struct curl_waitfd input = {.fd = STDIN_FILENO, .events = CURL_WAIT_POLLIN};
    char ignored[256];
    while (mono_ns() < until_ns) {
        int running, left;
        curl_multi_perform(asking->multi, &running);
        for (CURLMsg *message; (message = curl_multi_info_read(asking->multi, &left)) != NULL;) {
            Reader *reader = NULL;
            curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&reader);
            if (!take_answer(asking, reader, message->data.result)) return FALSE;
            ask_next(asking, reader);
        }
        input.revents = 0;
        curl_multi_poll(asking->multi, &input, 1, POLL_MS, NULL);
        if (input.revents != 0 && read(STDIN_FILENO, ignored, sizeof ignored) <= 0) return TRUE;
    }
    return TRUE;
}

/* ---- what came of it ---- */

static int by_size(gconstpointer a, gconstpointer b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_result(const Asking *asking, double seconds) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    double cpu_s = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                   (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
    printf("{\"answers_per_s\": %.1f, \"answers\": %" PRIu64 ", \"cpu_s\": %.3f, \"seconds\": %.3f, \"ms\": {",
           (double)asking->answers / seconds, asking->answers, cpu_s, seconds);
    const char *comma = "";
    for (guint i = 0; i < asking->names->len; i++) {
        GArray *times = g_hash_table_lookup(asking->times, g_ptr_array_index(asking->names, i));
        if (times->len == 0) continue;
        g_array_sort(times, by_size);
        const double *ms = (const double *)(gconstpointer)times->data;
        printf("%s\"%s\": [%.3f, %.3f, %.3f]", comma, (const char *)g_ptr_array_index(asking->names, i),
               ms[times->len / 2], ms[0], ms[times->len - 1]);
        comma = ", ";
    }
    printf("}}\n");
}

static void free_times(gpointer times) { g_array_unref(times); }

static void free_question(gpointer question) { g_free(((Question *)question)->url); }

int main(int argc, char **argv) {
    guint64 n = 0;
    if (argc < 3 || argc > 4 || !g_ascii_string_to_unsigned(argv[2], 10, 1, READERS_MOST, &n, NULL)) {
        fprintf(stderr, "bench_ask: HOST:PORT READERS [SECONDS]\n");
        return 2;
    }

    setvbuf(stdin, NULL, _IONBF, 0); /* what is behind the questions is waited for with poll */
    Asking asking = {curl_multi_init(), g_array_new(FALSE, FALSE, sizeof(Question)),
                     g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_times), g_ptr_array_new(), 0};
    g_array_set_clear_func(asking.questions, free_question);
    read_questions(&asking, argv[1]);
    gboolean good = asking.questions->len > 0;

    g_autofree Reader *readers = g_new0(Reader, n);
    gint64 begun_ns = mono_ns();
    for (guint i = 0; good && i < n; i++) reader_start(&asking, &readers[i], i);
    printf("reading\n");
    fflush(stdout);

    gint64 until_ns = argc > 3 ? begun_ns + (gint64)(g_ascii_strtod(argv[3], NULL) * NS_PER_SEC) : G_MAXINT64;
    good = good && ask_on(&asking, until_ns);
    print_result(&asking, (double)(mono_ns() - begun_ns) / NS_PER_SEC);

    for (guint i = 0; i < n && readers[i].curl != NULL; i++) {
        curl_multi_remove_handle(asking.multi, readers[i].curl);
        curl_easy_cleanup(readers[i].curl);
    }
    curl_multi_cleanup(asking.multi);
    g_array_unref(asking.questions);
    g_ptr_array_unref(asking.names);
    g_hash_table_unref(asking.times);
    return good ? 0 : 1;
}
