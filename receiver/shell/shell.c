#include "receiver/shell/shell.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/base/harmless.h"
#include "receiver/shared/log.h"

#define SOCKET_BACKLOG 16

struct Shell {
    ShellOptions options;
    char *program;
    char *off;     /* why there is no shell; NULL: there is one */
    char *server;  /* as plumb takes it: "unix:@NAME" */
    int socket_fd; /* -1: none */
    GQueue runs;   /* ShellRun, the newest first */
    gint64 minute_ns;
    guint in_minute;
};

/* ---- the socket of the children ---- */

static gboolean listen_at(Shell *shell, const char *name) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const gsize length = strlen(name);
    g_assert(length + 1 < sizeof address.sun_path);
    memcpy(address.sun_path + 1, name, length); /* in front is a zero byte: it has a name in no file system */
    const socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length);
    shell->socket_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    return shell->socket_fd >= 0 && bind(shell->socket_fd, (const struct sockaddr *)&address, size) == 0 &&
           listen(shell->socket_fd, SOCKET_BACKLOG) == 0;
}

static void open_socket(Shell *shell) {
    g_autofree char *name = g_uuid_string_random();
    g_autofree char *full = g_strconcat("plumbd-", name, NULL);
    if (listen_at(shell, full)) {
        shell->server = g_strconcat("unix:@", full, NULL);
        return;
    }
    shell->off = g_strdup_printf("plumbd has no socket for them: %s", g_strerror(errno));
    log_message(LOG_LEVEL_WARNING, "no analyses are run for the page: %s", shell->off);
}

char *shell_child_of(Shell *shell, int fd, char name[PEER_NAME_BYTES]) {
    struct ucred who;
    socklen_t size = sizeof who;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0 || who.uid != geteuid()) return NULL;
    for (const GList *at = shell->runs.head; at != NULL; at = at->next) {
        const ShellRun *run = at->data;
        if (child_pid(run->child) != who.pid || who.pid == 0) continue;
        g_strlcpy(name, run->peer, PEER_NAME_BYTES);
        return g_strdup(run->who);
    }
    return NULL;
}

/* ---- life ---- */

static void forget(Shell *shell, ShellRun *run) {
    g_queue_remove(&shell->runs, run);
    shell->options.forgotten(shell->options.arg, run);
    child_free(run->child);
    g_free(run->command);
    g_free(run->who);
    g_free(run);
}

/* Beside plumbd, wherever that lies. */
static char *program_of(const ShellSettings *settings) {
    if (settings->program[0] != '\0') return g_strdup(settings->program);
    g_autofree char *own = g_file_read_link("/proc/self/exe", NULL);
    g_autofree char *folder = own != NULL ? g_path_get_dirname(own) : g_strdup("/usr/bin");
    return g_build_filename(folder, "plumb", NULL);
}

static char *why_off(const Shell *shell) {
    const ShellMode mode = shell->options.settings->mode;
    if (mode == SHELL_NO) return g_strdup("shell.enabled in plumbd's configuration is no, so no analyses are run here");
    if (mode == SHELL_AUTO && shell->options.unguarded)
        return g_strdup("anybody reaches this port without a login (listen.insecure), so no analyses are run here; "
                        "shell.enabled = yes changes that");
    if (g_path_is_absolute(shell->program) && access(shell->program, X_OK) == 0) return NULL;
    return g_strdup_printf("there is no program %s: shell.program in plumbd's configuration names plumb",
                           shell->program);
}

Shell *shell_new(const ShellOptions *options) {
    Shell *shell = g_new0(Shell, 1);
    shell->options = *options;
    shell->socket_fd = -1;
    g_queue_init(&shell->runs);
    shell->program = program_of(options->settings);
    shell->off = why_off(shell);
    if (shell->off == NULL) open_socket(shell);
    return shell;
}

void shell_end(Shell *shell) {
    while (shell->runs.head != NULL) forget(shell, shell->runs.head->data);
}

void shell_free(Shell *shell) {
    if (shell->socket_fd >= 0) close(shell->socket_fd);
    g_free(shell->program);
    g_free(shell->server);
    g_free(shell->off);
    g_free(shell);
}

char *shell_off(const Shell *shell) { return g_strdup(shell->off); }
int shell_socket(const Shell *shell) { return shell->off == NULL ? shell->socket_fd : -1; }

/* ---- what is kept ---- */

static void forget_old(Shell *shell) {
    const gsize most_bytes = SHELL_KEPT_OUTPUTS * shell->options.settings->limits.output_bytes;
    gsize bytes = 0;
    guint n = 0;
    for (GList *at = shell->runs.head, *next; at != NULL; at = next) {
        next = at->next;
        ShellRun *run = at->data;
        if (child_state(run->child) == CHILD_RUNNING) continue;
        bytes += child_bytes(run->child);
        if (++n > SHELL_KEPT || bytes > most_bytes) forget(shell, run);
    }
}

static void on_changed(void *arg, Child *child) {
    ShellRun *own = arg;
    Shell *shell = own->shell;
    const gboolean ended = child_state(child) != CHILD_RUNNING && own->end_time_ns == 0;
    if (ended) {
        own->end_time_ns = clock_wall_ns(clock_system());
        log_message(LOG_LEVEL_NOTICE, "shell: run %016" G_GINT64_MODIFIER "x is %s, after %.1f s and %u lines%s%s",
                    own->id, child_state_name(child_state(child)),
                    (double)(own->end_time_ns - own->begin_time_ns) / 1e9, child_lines(child),
                    child_why(child) != NULL ? ": " : "", child_why(child) != NULL ? child_why(child) : "");
    }
    shell->options.changed(shell->options.arg, own);
    if (ended) forget_old(shell);
}

/* ---- begin and stop ---- */

static guint count_running(const Shell *shell, const char *peer) {
    guint n = 0;
    for (const GList *at = shell->runs.head; at != NULL; at = at->next) {
        const ShellRun *run = at->data;
        if (child_state(run->child) == CHILD_RUNNING && (peer == NULL || strcmp(run->peer, peer) == 0)) n++;
    }
    return n;
}

static gboolean may_begin(Shell *shell, const char *peer, GError **error) {
    const ShellSettings *settings = shell->options.settings;
    const gint64 now_ns = clock_monotonic_ns(clock_system());
    if (count_running(shell, peer) >= settings->per_peer)
        return fail(error, PLUMB_ERROR_BUSY,
                    "%u analyses run for your address (shell.per-peer): stop one, or wait until it ends",
                    settings->per_peer);
    if (count_running(shell, NULL) >= settings->at_once)
        return fail(error, PLUMB_ERROR_BUSY, "%u analyses run (shell.at-once): try again when one has ended",
                    settings->at_once);
    if (now_ns - shell->minute_ns >= NS_PER_MINUTE) {
        shell->minute_ns = now_ns;
        shell->in_minute = 0;
    }
    if (shell->in_minute >= SHELL_PER_MINUTE)
        return fail(error, PLUMB_ERROR_BUSY, "%u analyses were begun within a minute: try again in a minute",
                    SHELL_PER_MINUTE);
    return TRUE;
}

static ShellRun *spawn(Shell *shell, const char *const *arguments, guint columns, GError **error) {
    ShellRun *run = g_new0(ShellRun, 1);
    const ChildOptions options = {
        .base = shell->options.base,
        .program = shell->program,
        .arguments = arguments,
        .server = shell->server,
        .columns = columns,
        .limits = shell->options.settings->limits,
        .changed = on_changed,
        .arg = run,
    };

    run->child = child_start(&options, error);
    if (run->child == NULL) {
        g_free(run);
        return NULL;
    }
    run->shell = shell;
    run->id = (guint64)g_random_int() << 32 | g_random_int();
    run->begin_time_ns = clock_wall_ns(clock_system());
    return run;
}

/* As wide as the page that asks. */
static gboolean columns_of(const json_t *request, guint *columns, GError **error) {
    const json_t *value = json_object_get(request, "columns");
    const json_int_t wanted = value == NULL ? SHELL_COLUMNS : json_integer_value(value);
    if (wanted < SHELL_COLUMNS_LEAST || wanted > SHELL_COLUMNS_MOST)
        return fail(error, PLUMB_ERROR_INPUT, "columns: must be a whole number from %u to %u", SHELL_COLUMNS_LEAST,
                    SHELL_COLUMNS_MOST);
    *columns = (guint)wanted;
    return TRUE;
}

ShellRun *shell_begin(Shell *shell, const json_t *request, const char *who, const char *peer, GError **error) {
    const PlanAnalysis *analysis = NULL;
    g_auto(GStrv) arguments = plan_arguments(request, &analysis, error);
    guint columns = 0;
    if (arguments == NULL || !columns_of(request, &columns, error) || !may_begin(shell, peer, error)) return NULL;
    ShellRun *run = spawn(shell, (const char *const *)arguments, columns, error);
    if (run == NULL) return NULL;
    shell->in_minute++;
    run->analysis = analysis->name;
    run->command = plan_command((const char *const *)arguments);
    run->who = g_strdup(who);
    g_strlcpy(run->peer, peer, sizeof run->peer);
    g_queue_push_head(&shell->runs, run);

    g_autofree char *shown = harmless_line(run->command);
    log_message(LOG_LEVEL_NOTICE, "shell: %s at %s begins run %016" G_GINT64_MODIFIER "x: %s", who, peer, run->id,
                shown);
    return run;
}

void shell_stop_run(ShellRun *run, const char *who) {
    if (child_state(run->child) != CHILD_RUNNING) return;
    log_message(LOG_LEVEL_NOTICE, "shell: %s stops run %016" G_GINT64_MODIFIER "x", who, run->id);
    child_stop(run->child, CHILD_STOPPED, NULL);
}

void shell_tick(Shell *shell) {
    const gint64 now_ns = clock_monotonic_ns(clock_system());
    for (GList *at = shell->runs.head; at != NULL; at = at->next) child_tick(((ShellRun *)at->data)->child, now_ns);
}

/* ---- what is told ---- */

ShellRun *shell_find(const Shell *shell, const char *id) {
    for (const GList *at = shell->runs.head; at != NULL; at = at->next) {
        const ShellRun *run = at->data;
        char text[17];
        g_snprintf(text, sizeof text, "%016" G_GINT64_MODIFIER "x", run->id);
        if (strcmp(text, id) == 0) return at->data;
    }
    return NULL;
}

json_t *shell_run_json(const ShellRun *run) {
    const ChildState state = child_state(run->child);
    const char *why = child_why(run->child);
    g_autofree char *id = g_strdup_printf("%016" G_GINT64_MODIFIER "x", run->id);
    json_t *row = json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:i}", "id", id, "analysis", run->analysis, "command",
                            run->command, "by", run->who, "state", child_state_name(state), "begin_time_ns",
                            (json_int_t)run->begin_time_ns, "lines", (int)child_lines(run->child));
    if (run->end_time_ns != 0) json_object_set_new(row, "end_time_ns", json_integer(run->end_time_ns));
    if (child_exit_code(run->child) >= 0)
        json_object_set_new(row, "exit_code", json_integer(child_exit_code(run->child)));
    if (why != NULL) json_object_set_new(row, "why", json_string(why));
    return row;
}

json_t *shell_list(const Shell *shell) {
    json_t *list = json_array();
    for (const GList *at = shell->runs.head; at != NULL; at = at->next)
        json_array_append_new(list, shell_run_json(at->data));
    return list;
}
