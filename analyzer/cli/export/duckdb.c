#define _GNU_SOURCE /* memfd_create, pipe2 */
#include "analyzer/cli/export/duckdb.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/base/harmless.h"
#include "common/base/limits.h"

/* What it says of a failure is for a person. */
#define SAID_BYTES  2000u
#define WAIT_MS     250
#define END_WAIT_NS (5 * NS_PER_MS)
/* A span is of one body, each byte of which may become six (\u0001), and twice where keys are repeated. DuckDB sets
 * aside twice as much, and touches what it needs. */
#define LINE_BYTES (12 * (guint64)LIMIT_FRAME_BYTES + (1u << 20))

struct DuckDb {
    GPid pid; /* 0: it does not run */
    int rows; /* its standard input; -1: closed */
    int said; /* a file without a name, with what it said on standard error */
    const volatile sig_atomic_t *stop;
};

char *duckdb_find(const char *named, GError **error) {
    char *found = g_find_program_in_path(named != NULL ? named : "duckdb");
    if (found != NULL) return found;
    if (named != NULL)
        fail(error, PLUMB_ERROR_NOT_FOUND, "--duckdb %s: there is no such program", named);
    else
        fail(error, PLUMB_ERROR_NOT_FOUND,
             "Parquet is written by the program duckdb, which is not in the path: get it with 'pip install "
             "duckdb-cli' or from https://duckdb.org, or name it with --duckdb FILE");
    return NULL;
}

/* A text in a statement. */
static char *quoted(const char *text) {
    g_auto(GStrv) parts = g_strsplit(text, "'", -1);
    g_autofree char *inside = g_strjoinv("''", parts);
    return g_strconcat("'", inside, "'", NULL);
}

/* One thread takes less processor time and memory, and is faster than the rows come. */
static char *statement_of(const DuckDbTable *table, const char *path) {
    g_autofree char *absolute = g_canonicalize_filename(path, NULL); /* so it cannot be an address of the network */
    g_autofree char *target = quoted(absolute);
    g_autofree char *rows = g_strdup_printf("read_json('/dev/stdin', format = 'newline_delimited', "
                                            "maximum_object_size = %" G_GUINT64_FORMAT ", columns = {%s})",
                                            LINE_BYTES, table->columns);
    g_auto(GStrv) around = g_strsplit(table->select, "{rows}", -1);
    g_autofree char *select = g_strjoinv(rows, around);
    return g_strconcat("SET threads = 1; COPY (", select, ") TO ", target,
                       " (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1, USE_TMP_FILE false)", NULL);
}

static void in_child(gpointer arg) {
    (void)arg;
    signal(SIGPIPE, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
}

DuckDb *duckdb_start(const char *program, const DuckDbTable *table, const char *path, const volatile sig_atomic_t *stop,
                     GError **error) {
    g_autoptr(DuckDb) duckdb = g_new0(DuckDb, 1);
    g_autofree char *statement = statement_of(table, path);
    char *argv[] = {
        (char *)program, (char *)"-init", (char *)"/dev/null", (char *)"-bail", (char *)"-c", statement, NULL};
    int pipe_ends[2] = {-1, -1};
    duckdb->rows = -1;
    duckdb->stop = stop;
    duckdb->said = memfd_create("said", MFD_CLOEXEC);
    const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);

    g_autoptr(GError) why = NULL;
    const gboolean started = duckdb->said >= 0 && nothing >= 0 && pipe2(pipe_ends, O_CLOEXEC) == 0 &&
                             g_spawn_async_with_fds(NULL, argv, NULL, G_SPAWN_DO_NOT_REAP_CHILD, in_child, NULL,
                                                    &duckdb->pid, pipe_ends[0], nothing, duckdb->said, &why);
    const int err = errno;

    if (nothing >= 0) close(nothing);
    if (pipe_ends[0] >= 0) close(pipe_ends[0]);
    duckdb->rows = pipe_ends[1];
    if (started) fcntl(duckdb->rows, F_SETFL, O_NONBLOCK);
    if (started) return g_steal_pointer(&duckdb);
    fail(error, PLUMB_ERROR_IO, "cannot start %s: %s", program, why != NULL ? why->message : g_strerror(err));
    return NULL;
}

static void close_rows(DuckDb *duckdb) {
    if (duckdb->rows >= 0) close(duckdb->rows);
    duckdb->rows = -1;
}

static int wait_for(DuckDb *duckdb) {
    int status = 0;
    while (waitpid(duckdb->pid, &status, 0) < 0 && errno == EINTR) {
    }
    duckdb->pid = 0;
    return status;
}

/* A signal may come just before a wait: so none is long. */
static gboolean goes_on(const DuckDb *duckdb, GError **error) {
    return !*duckdb->stop || fail(error, PLUMB_ERROR_IO, "stopped; nothing was kept");
}

static gboolean fail_said(DuckDb *duckdb, int status, GError **error) {
    char said[SAID_BYTES + 1];
    const ssize_t n = pread(duckdb->said, said, SAID_BYTES, 0);
    said[MAX(n, 0)] = '\0';
    g_strstrip(said);
    g_autofree char *harmless = harmless_text(said, FALSE, 0);
    if (WIFSIGNALED(status))
        return fail(error, PLUMB_ERROR_IO, "duckdb was ended by signal %d%s%s", WTERMSIG(status),
                    *harmless != '\0' ? ": " : "", harmless);
    return fail(error, PLUMB_ERROR_IO, "duckdb failed: %s", *harmless != '\0' ? harmless : "it does not say why");
}

gboolean duckdb_write(DuckDb *duckdb, Bytes lines, GError **error) {
    const guint8 *at = lines.data;
    for (gsize left = lines.size_bytes; left > 0;) {
        if (!goes_on(duckdb, error)) return FALSE;
        const ssize_t n = write(duckdb->rows, at, left);
        if (n >= 0) {
            at += n;
            left -= (gsize)n;
            continue;
        }
        if (errno == EINTR) continue;
        struct pollfd ready = {.fd = duckdb->rows, .events = POLLOUT};
        if (errno == EAGAIN && (poll(&ready, 1, WAIT_MS) >= 0 || errno == EINTR)) continue;
        close_rows(duckdb);
        return fail_said(duckdb, wait_for(duckdb), error);
    }
    return TRUE;
}

gboolean duckdb_finish(DuckDb *duckdb, GError **error) {
    const struct timespec pause = timespec_of(END_WAIT_NS);
    siginfo_t ended = {.si_pid = 0};
    close_rows(duckdb);
    while (waitid(P_PID, (id_t)duckdb->pid, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid == 0) {
        if (!goes_on(duckdb, error)) return FALSE;
        nanosleep(&pause, NULL);
    }
    const int status = wait_for(duckdb);
    return (WIFEXITED(status) && WEXITSTATUS(status) == 0) || fail_said(duckdb, status, error);
}

void duckdb_free(DuckDb *duckdb) {
    if (duckdb == NULL) return;
    if (duckdb->pid != 0) {
        kill(duckdb->pid, SIGKILL);
        wait_for(duckdb);
    }
    close_rows(duckdb);
    if (duckdb->said >= 0) close(duckdb->said);
    g_free(duckdb);
}
