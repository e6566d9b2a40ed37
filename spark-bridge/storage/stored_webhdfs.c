/* HDFS through WebHDFS: https://hadoop.apache.org/docs/stable/hadoop-project-dist/hadoop-hdfs/WebHDFS.html
 *
 * The NameNode refuses offsets beyond the length that it knows, and of a file that is being written it knows only whole
 * blocks. The DataNode it names for the begin of the file gives what the writer has flushed, at any offset: so the
 * redirection is not followed but asked for, and its offset replaced. */
#include <curl/curl.h>
#include <jansson.h>
#include <string.h>

#include "common/base/clock.h"
#include "spark-bridge/storage/stored_file_kinds.h"

#define CONNECT_TIMEOUT_S 10L
/* A server that sends nothing for so long is lost. A NameNode may collect garbage or list a large folder meanwhile; of
 * DataNodes there are others. */
#define STALLED_NAME_NODE_S 30L
#define STALLED_DATA_NODE_S 10L
/* The second time: the DataNode itself may wait for another one that hangs, for a minute
 * (dfs.client.socket-timeout). */
#define STALLED_AGAIN_S 70L
#define PAUSE_FIRST_MS  100u
#define PAUSE_MOST_MS   5000u
/* What one answer about files may take: a history folder with 100,000 logs is 40 MB of JSON. */
#define DOCUMENT_BYTES ((gsize)512 * 1024 * 1024)

typedef struct Web {
    CURL *curl;
    char message[CURL_ERROR_SIZE];
    guint active;      /* which of several NameNodes answered last */
    gboolean kerberos; /* they want a ticket */
} Web;

/* "webhdfs://a:1,b:2/dir" taken apart. */
typedef struct WebPath {
    const char *scheme; /* "http" */
    char **name_nodes;
    char *path; /* "/dir", escaped */
} WebPath;

/* What comes back: text for documents, or bytes into the caller's room. */
typedef struct WebReply {
    GString *text;
    guint8 *to;
    gsize room, n;
    gboolean overflow;
    CURL *curl;
    char *location;
    gboolean again; /* it is not the first try */
    char *avoid;    /* the host of a DataNode that did not answer the last time */
} WebReply;

void webhdfs_free(void *data) {
    Web *web = data;
    if (web == NULL) return;
    curl_easy_cleanup(web->curl);
    g_free(web);
}

static Web *web_of(Storage *storage) {
    if (storage->web != NULL) return storage->web;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    Web *web = g_new0(Web, 1);
    web->curl = curl_easy_init();
    g_assert(web->curl != NULL);
    storage->web = web;
    return web;
}

static void web_path_clear(WebPath *path) {
    g_strfreev(path->name_nodes);
    g_free(path->path);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(WebPath, web_path_clear)

static gboolean web_path_parse(const char *text, WebPath *path, GError **error) {
    const gboolean tls = g_str_has_prefix(text, "swebhdfs://");
    const char *rest = text + strlen(tls ? "swebhdfs://" : "webhdfs://");
    const char *slash = strchr(rest, '/');
    g_autofree char *hosts = slash != NULL ? g_strndup(rest, (gsize)(slash - rest)) : g_strdup(rest);
    g_auto(GStrv) name_nodes = g_strsplit(hosts, ",", 0);

    gboolean good = hosts[0] != '\0';
    for (guint i = 0; name_nodes[i] != NULL; i++) {
        const char *colon = strrchr(name_nodes[i], ':');
        guint64 port;
        good = good && colon != NULL && colon != name_nodes[i] && strpbrk(name_nodes[i], "?#@ \t") == NULL &&
               g_ascii_string_to_unsigned(colon + 1, 10, 1, 65535, &port, NULL);
    }
    if (!good)
        return fail(error, PLUMB_ERROR_CONFIG,
                    "%s: write webhdfs://HOST:PORT/PATH with the NameNode's HTTP address (dfs.namenode.http-address, "
                    "usually port 9870)",
                    text);

    path->scheme = tls ? "https" : "http";
    path->name_nodes = g_steal_pointer(&name_nodes);
    path->path = g_uri_escape_string(slash != NULL ? slash : "/", "/", FALSE);
    return TRUE;
}

static size_t take(char *data, size_t size, size_t n, void *arg) {
    WebReply *reply = arg;
    const gsize size_bytes = size * n;
    long status = 0;
    curl_easy_getinfo(reply->curl, CURLINFO_RESPONSE_CODE, &status);
    if (reply->to != NULL && status == 200) {
        /* A server that sends more than was asked for is not stored past the end. */
        const gsize fits = MIN(size_bytes, reply->room - reply->n);
        memcpy(reply->to + reply->n, data, fits);
        reply->n += fits;
        return size_bytes;
    }
    reply->overflow = reply->text->len + size_bytes > DOCUMENT_BYTES;
    if (reply->overflow) return 0;
    g_string_append_len(reply->text, data, (gssize)size_bytes);
    return size_bytes;
}

static void reply_reset(WebReply *reply) {
    g_string_truncate(reply->text, 0);
    reply->n = 0;
    g_clear_pointer(&reply->location, g_free);
}

static void reply_clear(WebReply *reply) {
    if (reply->text != NULL) g_string_free(reply->text, TRUE);
    g_free(reply->location);
    g_free(reply->avoid);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(WebReply, reply_clear)

static long stalled_s(const WebReply *reply) {
    if (reply->to == NULL) return STALLED_NAME_NODE_S;
    return reply->again ? STALLED_AGAIN_S : STALLED_DATA_NODE_S;
}

/* One GET. 0: no whole answer came (web->message says why). */
static long get(Web *web, const char *url, WebReply *reply) {
    reply_reset(reply);
    CURL *curl = reply->curl = web->curl;
    curl_easy_reset(curl);
    web->message[0] = '\0';

    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, web->message);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, CONNECT_TIMEOUT_S);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, stalled_s(reply));
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "plumb-bridge");
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, reply);

    /* Where a NameNode wants a ticket of Kerberos, that of kinit; its cookie stands for it afterwards. */
    curl_easy_setopt(curl, CURLOPT_HTTPAUTH, (long)(CURLAUTH_NEGOTIATE | CURLAUTH_ONLY));
    curl_easy_setopt(curl, CURLOPT_USERPWD, ":");
    curl_easy_setopt(curl, CURLOPT_COOKIEFILE, "");

    const CURLcode code = curl_easy_perform(curl);
    long ways = 0;
    curl_easy_getinfo(curl, CURLINFO_HTTPAUTH_AVAIL, &ways);
    web->kerberos = web->kerberos || (ways & (long)CURLAUTH_NEGOTIATE) != 0;
    if (code != CURLE_OK) {
        if (web->message[0] == '\0') g_strlcpy(web->message, curl_easy_strerror(code), sizeof web->message);
        return 0;
    }

    long status = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    char *location = NULL;
    curl_easy_getinfo(curl, CURLINFO_REDIRECT_URL, &location);
    reply->location = g_strdup(location);
    return status;
}

/* The exception that HDFS answered with: "StandbyException", and its message; either may be NULL. */
static json_t *remote_exception(const WebReply *reply, const char **kind, const char **message) {
    json_t *document = json_loadb(reply->text->str, reply->text->len, 0, NULL);
    json_t *exception = json_object_get(document, "RemoteException");
    *kind = json_string_value(json_object_get(exception, "exception"));
    *message = json_string_value(json_object_get(exception, "message"));
    return document;
}

typedef enum { ANSWERED, TRY_AGAIN, REFUSED } Answer;

/* What a status means; says in *error what HDFS said. */
static Answer judge(Web *web, long status, const WebReply *reply, const char *where, GError **error) {
    if (status == 200 || status == 307) return ANSWERED;
    if (status == 0) {
        fail(error, PLUMB_ERROR_PEER, "%s: %s", where,
             reply->overflow ? "the answer is longer than 512 MiB" : web->message);
        return reply->overflow ? REFUSED : TRY_AGAIN;
    }

    const char *kind, *message;
    json_t *document = remote_exception(reply, &kind, &message);
    Answer answer = REFUSED;

    if (g_strcmp0(kind, "FileNotFoundException") == 0) {
        fail(error, PLUMB_ERROR_NOT_FOUND, "%s: no such file or folder in HDFS", where);
    } else if (status == 401 && web->kerberos) {
        fail(error, PLUMB_ERROR_IO, "%s: HDFS wants a ticket of Kerberos: see `klist`, and log in with kinit", where);
    } else if (status == 401 || g_strcmp0(kind, "AccessControlException") == 0) {
        fail(error, PLUMB_ERROR_IO, "%s: HDFS gives no permission (%s); name a user who may read it with --hdfs-user",
             where, message != NULL ? message : "it wants another authentication");
    } else {
        fail(error, PLUMB_ERROR_PEER, "%s: HTTP %ld, %s%s%s", where, status, kind != NULL ? kind : "no HDFS exception",
             message != NULL ? ": " : "", message != NULL ? message : "");
        /* A standby, a NameNode in safe mode or starting, a DataNode without the block right now. */
        answer = TRY_AGAIN;
    }

    json_decref(document);
    return answer;
}

typedef struct RetryLimit {
    Storage *storage;
    gint64 until_ms;
    guint pause_ms;
    gboolean said;
} RetryLimit;

static gint64 now_ms(void) { return clock_monotonic_ns(clock_system()) / NS_PER_MS; }

static RetryLimit retry_limit_new(Storage *storage) {
    return (RetryLimit){storage, now_ms() + storage->options.retry_ms, PAUSE_FIRST_MS, FALSE};
}

static gboolean stopped(const Storage *storage) {
    return storage->options.stopped != NULL && storage->options.stopped(storage->options.arg);
}

/* Pauses before another try; FALSE: time is up. */
static gboolean retry_limit_wait(RetryLimit *limit, const char *why) {
    const StorageOptions *options = &limit->storage->options;
    if (now_ms() >= limit->until_ms) return FALSE;
    if (!limit->said && options->waiting != NULL) options->waiting(options->arg, why);
    limit->said = TRUE;
    for (guint slept = 0; slept < limit->pause_ms; slept += 50) {
        if (stopped(limit->storage)) return FALSE;
        g_usleep(50 * 1000);
    }
    limit->pause_ms = MIN(2 * limit->pause_ms, PAUSE_MOST_MS);
    return TRUE;
}

static void retry_limit_end(const RetryLimit *limit) {
    const StorageOptions *options = &limit->storage->options;
    if (limit->said && options->waiting != NULL) options->waiting(options->arg, NULL);
}

static char *url_of(Storage *storage, const WebPath *path, guint name_node, const char *query) {
    g_autofree char *user = g_uri_escape_string(storage->user, NULL, FALSE);
    const gboolean named = !web_of(storage)->kerberos; /* else the ticket says who we are */
    return g_strdup_printf("%s://%s/webhdfs/v1%s?%s%s%s", path->scheme, path->name_nodes[name_node], path->path, query,
                           named ? "&user.name=" : "", named ? user : "");
}

/* Once more, where the NameNode has just said that it wants a ticket: it takes no other name beside it. */
static long ask_name_node(Storage *storage, const WebPath *path, guint name_node, const char *query, WebReply *reply) {
    Web *web = web_of(storage);
    const gboolean knew = web->kerberos;
    g_autofree char *url = url_of(storage, path, name_node, query);
    const long status = get(web, url, reply);
    if (status == 0 || status == 401 || knew || !web->kerberos) return status;
    g_autofree char *again = url_of(storage, path, name_node, query);
    return get(web, again, reply);
}

/* Asks the NameNodes in turn, the one that answered last first. */
static Answer ask_once(Storage *storage, const WebPath *path, const char *query, WebReply *reply, GError **error) {
    Web *web = web_of(storage);
    const guint n = g_strv_length(path->name_nodes);
    g_autoptr(GError) first = NULL;

    for (guint i = 0; i < n; i++) {
        const guint name_node = (web->active + i) % n;
        g_autofree char *where = g_strdup_printf("HDFS at %s, %s", path->name_nodes[name_node], path->path);
        g_autoptr(GError) why = NULL;

        const Answer answer = judge(web, ask_name_node(storage, path, name_node, query, reply), reply, where, &why);
        if (answer == TRY_AGAIN) {
            if (first == NULL) first = g_steal_pointer(&why);
            continue;
        }

        web->active = name_node;
        if (why != NULL) g_propagate_error(error, g_steal_pointer(&why));
        return answer;
    }

    g_propagate_error(error, g_steal_pointer(&first));
    return TRY_AGAIN;
}

static gboolean ask(Storage *storage, const char *text, const char *query, WebReply *reply, GError **error) {
    g_auto(WebPath) path = {0};
    if (!web_path_parse(text, &path, error)) return FALSE;
    RetryLimit limit = retry_limit_new(storage);
    for (;;) {
        g_autoptr(GError) why = NULL;
        const Answer answer = ask_once(storage, &path, query, reply, &why);
        if (answer == ANSWERED) {
            retry_limit_end(&limit);
            return TRUE;
        }
        if (answer == TRY_AGAIN && retry_limit_wait(&limit, why->message)) continue;
        g_propagate_error(error, g_steal_pointer(&why));
        return FALSE;
    }
}

static void take_status(StoredFacts *facts, const json_t *status, const char *name) {
    const char *suffix = json_string_value(json_object_get(status, "pathSuffix"));
    facts->name = g_strdup(suffix != NULL && suffix[0] != '\0' ? suffix : name);
    facts->id = (guint64)json_integer_value(json_object_get(status, "fileId"));
    facts->size_bytes = (guint64)MAX(json_integer_value(json_object_get(status, "length")), 0);
    facts->changed_ms = json_integer_value(json_object_get(status, "modificationTime"));
    facts->folder = g_strcmp0(json_string_value(json_object_get(status, "type")), "DIRECTORY") == 0;
    /* The listing does not say; a file that Spark still writes has this name. */
    facts->open = g_str_has_suffix(facts->name, ".inprogress");
}

static json_t *ask_document(Storage *storage, const char *path, const char *query, GError **error) {
    g_auto(WebReply) reply = {.text = g_string_new(NULL)};
    if (!ask(storage, path, query, &reply, error)) return NULL;
    json_t *document = json_loadb(reply.text->str, reply.text->len, 0, NULL);
    if (document == NULL)
        fail(error, PLUMB_ERROR_PEER, "%s: what answers there is no WebHDFS; is it the NameNode's HTTP address?", path);
    return document;
}

static gboolean web_look(Storage *storage, const char *path, StoredFacts *facts, GError **error) {
    json_t *document = ask_document(storage, path, "op=GETFILESTATUS", error);
    if (document == NULL) return FALSE;
    const json_t *status = json_object_get(document, "FileStatus");
    const gboolean good = json_is_object(status);
    *facts = (StoredFacts){0};
    g_autofree char *name = g_path_get_basename(path);
    if (good) take_status(facts, status, name);
    json_decref(document);
    return good || fail(error, PLUMB_ERROR_PEER, "%s: the answer has no FileStatus; is it a NameNode?", path);
}

static gboolean web_list(Storage *storage, const char *path, GArray *entries, GError **error) {
    json_t *document = ask_document(storage, path, "op=LISTSTATUS", error);
    if (document == NULL) return FALSE;
    const json_t *list = json_object_get(json_object_get(document, "FileStatuses"), "FileStatus");
    gsize i;
    json_t *status;
    json_array_foreach(list, i, status) {
        StoredFacts facts = {0};
        take_status(&facts, status, "");
        /* A name never has a slash: it must not lead out of the folder. */
        if (facts.name[0] != '\0' && strchr(facts.name, '/') == NULL)
            g_array_append_val(entries, facts);
        else
            stored_facts_clear(&facts);
    }
    json_decref(document);
    return TRUE;
}

static gboolean web_open(StoredFile *file, GError **error) {
    StoredFacts facts;
    if (!web_look(file->storage, file->path, &facts, error)) return FALSE;
    const gboolean folder = facts.folder;
    file->id = facts.id;
    stored_facts_clear(&facts);
    return !folder || fail(error, PLUMB_ERROR_IO, "cannot read %s: it is a folder", file->path);
}

/* The DataNode's address for that range: its URL has "offset=0", which is replaced. */
static char *at_offset(const char *location, guint64 offset, gsize size_bytes) {
    const char *query = strchr(location, '?');
    if (query == NULL) return NULL;
    GString *url = g_string_new_len(location, query - location);
    g_string_append_printf(url, "?offset=%" G_GUINT64_FORMAT "&length=%" G_GSIZE_FORMAT, offset, size_bytes);
    g_auto(GStrv) parts = g_strsplit(query + 1, "&", 0);
    for (guint i = 0; parts[i] != NULL; i++)
        if (!g_str_has_prefix(parts[i], "offset=") && !g_str_has_prefix(parts[i], "length="))
            g_string_append_printf(url, "&%s", parts[i]);
    return g_string_free(url, FALSE);
}

/* HDFS says so when nothing is there yet, at the very end or in a file without a block. */
static gboolean says_end(const WebReply *reply) {
    const char *kind, *message;
    json_t *document = remote_exception(reply, &kind, &message);
    const gboolean end =
        g_strcmp0(kind, "EOFException") == 0 ||
        (message != NULL && (strstr(message, "after EOF") != NULL || strstr(message, "out of the range") != NULL));
    json_decref(document);
    return end;
}

static char *host_of(const char *url) {
    g_autoptr(GUri) uri = g_uri_parse(url, G_URI_FLAGS_NONE, NULL);
    return uri != NULL ? g_strdup(g_uri_get_host(uri)) : NULL;
}

/* The NameNode is told which DataNode not to name; not again, should that leave none. */
static char *open_query(WebReply *reply) {
    g_autofree char *avoid = g_steal_pointer(&reply->avoid);
    return avoid == NULL ? g_strdup("op=OPEN&offset=0")
                         : g_strdup_printf("op=OPEN&offset=0&excludedatanodes=%s", avoid);
}

/* Asks the NameNode for a DataNode, and that for the bytes. */
static Answer read_once(StoredFile *file, const WebPath *path, guint64 offset, WebReply *reply, GError **error) {
    g_auto(WebReply) redirect = {.text = g_string_new(NULL)};
    g_autofree char *query = open_query(reply);
    Answer answer = ask_once(file->storage, path, query, &redirect, error);
    if (answer != ANSWERED) return answer;

    g_autofree char *url = redirect.location != NULL ? at_offset(redirect.location, offset, reply->room) : NULL;
    if (url == NULL) {
        fail(error, PLUMB_ERROR_PEER, "%s: the NameNode names no DataNode to read from", file->path);
        return TRY_AGAIN;
    }

    Web *web = web_of(file->storage);
    const long status = get(web, url, reply);
    if (status >= 400 && says_end(reply)) {
        reply->n = 0;
        return ANSWERED;
    }

    g_autofree char *where = g_strdup_printf("%s at byte %" G_GUINT64_FORMAT, file->path, offset);
    answer = judge(web, status, reply, where, error);
    if (answer == TRY_AGAIN) reply->avoid = host_of(redirect.location);
    reply->again = TRUE;
    return answer;
}

/* Spark has renamed the file, when it is done: the same id is in the folder under the final name. */
static gboolean find_renamed(StoredFile *file) {
    if (!g_str_has_suffix(file->path, ".inprogress")) return FALSE;
    g_autofree char *path = g_strndup(file->path, strlen(file->path) - strlen(".inprogress"));
    StoredFacts facts;
    if (!web_look(file->storage, path, &facts, NULL)) return FALSE;
    const gboolean same = facts.id == file->id;
    stored_facts_clear(&facts);
    if (!same) return FALSE;
    g_free(file->path);
    file->path = g_steal_pointer(&path);
    return TRUE;
}

static gssize web_read(StoredFile *file, guint64 offset, void *to, gsize size_bytes, GError **error) {
    RetryLimit limit = retry_limit_new(file->storage);
    g_auto(WebReply) reply = {.text = g_string_new(NULL), .to = to, .room = size_bytes};
    for (;;) {
        g_auto(WebPath) path = {0};
        if (!web_path_parse(file->path, &path, error)) return -1;
        g_autoptr(GError) why = NULL;
        const Answer answer = read_once(file, &path, offset, &reply, &why);
        /* What came before a connection broke is good. */
        if (answer == ANSWERED || reply.n > 0) {
            retry_limit_end(&limit);
            return (gssize)reply.n;
        }
        if (g_error_matches(why, PLUMB_ERROR, PLUMB_ERROR_NOT_FOUND) && find_renamed(file)) continue;
        if (answer == TRY_AGAIN && retry_limit_wait(&limit, why->message)) continue;
        g_propagate_error(error, g_steal_pointer(&why));
        return -1;
    }
}

const StoredOps stored_webhdfs = {web_look, web_list, web_open, web_read};
