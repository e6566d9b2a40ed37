#include "receiver/shell/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/error.h"

#define CHILD_NICE 10
/* What it may have open: a connection, libraries, certificates of the system. */
#define CHILD_FILES 64
/* Read in one round, so that others are served in between. */
#define ROUND_BYTES (64u * 1024)

struct Child {
    ChildOptions options;
    pid_t pid;                     /* 0: it has ended, and was waited for */
    int pipe_fd, process_fd;       /* -1: closed */
    struct event *output, *ending; /* NULL: over */
    GPtrArray *lines;
    GString *unfinished; /* the line that is being written */
    gsize bytes;
    gint64 until_ns;
    ChildState state, ended_as; /* ended_as: CHILD_RUNNING until somebody ends it */
    const char *why;
    int exit_code;
};

/* ---- lines ---- */

static void add_line(Child *child) {
    char *line = g_utf8_make_valid(child->unfinished->str, (gssize)child->unfinished->len);
    g_ptr_array_add(child->lines, line);
    g_string_truncate(child->unfinished, 0);
}

/* FALSE: that is enough. */
static gboolean take_output(Child *child, const char *data, gsize size_bytes) {
    for (gsize i = 0; i < size_bytes; i++) {
        if (child->bytes >= child->options.limits.output_bytes || child->lines->len >= CHILD_LINES) return FALSE;
        child->bytes++;
        if (data[i] != '\n') g_string_append_c(child->unfinished, data[i] != '\0' ? data[i] : ' ');
        if (data[i] == '\n' || child->unfinished->len >= CHILD_LINE_BYTES) add_line(child);
    }
    return TRUE;
}

static void close_output(Child *child) {
    if (child->output != NULL) event_free(g_steal_pointer(&child->output));
    if (child->pipe_fd >= 0) close(child->pipe_fd);
    child->pipe_fd = -1;
    if (child->unfinished->len > 0) add_line(child);
}

/* Up to ROUND_BYTES of what is there. FALSE: there is no more now. */
static gboolean read_output(Child *child) {
    char data[ROUND_BYTES];
    if (child->pipe_fd < 0) return FALSE;
    const ssize_t n = read(child->pipe_fd, data, sizeof data);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return FALSE;
    if (n <= 0) {
        close_output(child);
        return FALSE;
    }
    if (take_output(child, data, (gsize)n)) return TRUE;
    child_stop(child, CHILD_CUT, "it wrote more than is kept (shell.output-limit): ask for less");
    close_output(child);
    return FALSE;
}

static void on_output(evutil_socket_t fd, short what, void *arg) {
    (void)fd, (void)what;
    Child *child = arg;
    read_output(child);
    child->options.changed(child->options.arg, child);
}

/* ---- its end ---- */

static ChildState state_of(Child *child, int status) {
    if (WIFEXITED(status)) child->exit_code = WEXITSTATUS(status);
    if (child->ended_as != CHILD_RUNNING) return child->ended_as;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU) {
        child->why = "it took more processor time than it may have (shell.time-limit)";
        return CHILD_CUT;
    }
    if (WIFSIGNALED(status)) child->why = "it was ended by a signal: too little memory (shell.memory), or a fault";
    /* 3: verify found differences, and says which */
    return child->exit_code == 0 || child->exit_code == 3 ? CHILD_DONE : CHILD_FAILED;
}

static void reap(Child *child) {
    int status = 0;
    while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR) {
    }
    child->pid = 0;
    child->state = state_of(child, status);
    event_free(g_steal_pointer(&child->ending));
    close(child->process_fd);
    child->process_fd = -1;
}

static void on_ending(evutil_socket_t fd, short what, void *arg) {
    (void)fd, (void)what;
    Child *child = arg;
    while (read_output(child)) {
    }
    close_output(child);
    reap(child);
    child->options.changed(child->options.arg, child);
}

void child_stop(Child *child, ChildState state, const char *why) {
    if (child->pid == 0 || child->ended_as != CHILD_RUNNING) return;
    child->ended_as = state;
    child->why = why;
    kill(-child->pid, SIGKILL);
}

void child_tick(Child *child, gint64 now_ns) {
    if (now_ns >= child->until_ns) child_stop(child, CHILD_CUT, "it took longer than it may (shell.time-limit)");
}

/* ---- its begin ---- */

static void limit_softly(pid_t pid, int resource, rlim_t soft, rlim_t hard) {
    const struct rlimit value = {soft, hard};
    prlimit(pid, (__rlimit_resource_t)resource, &value, NULL);
}

static void limit(pid_t pid, int resource, rlim_t most) { limit_softly(pid, resource, most, most); }

static void set_limits(const Child *child) {
    const ChildLimits *limits = &child->options.limits;
    /* At the soft one it gets SIGXCPU, which says why it ended; at the hard one it is killed without a word. */
    const rlim_t cpu_s = (rlim_t)(limits->time_ns / NS_PER_SEC + 1);
    limit_softly(child->pid, RLIMIT_CPU, cpu_s, cpu_s + 1);
    limit(child->pid, RLIMIT_CORE, 0);
    limit(child->pid, RLIMIT_FSIZE, 0);
    limit(child->pid, RLIMIT_NOFILE, CHILD_FILES);
    if (limits->memory_bytes > 0) limit(child->pid, RLIMIT_AS, limits->memory_bytes);
    setpriority(PRIO_PROCESS, (id_t)child->pid, CHILD_NICE);

    g_autofree char *path = g_strdup_printf("/proc/%d/oom_score_adj", (int)child->pid);
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return;
    (void)!write(fd, "1000", 4);
    close(fd);
}

static char **environment_of(const Child *child) {
    char **environment = g_new0(char *, 5);
    environment[0] = g_strdup_printf("PLUMB_SERVER=%s", child->options.server);
    environment[1] = g_strdup_printf("PLUMB_LEASH=%d", (int)getpid());
    environment[2] = g_strdup("LC_ALL=C.UTF-8");
    environment[3] = g_strdup_printf("COLUMNS=%u", child->options.columns);
    return environment;
}

static int spawn(Child *child, char **argv, char **environment, int output_fd) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output_fd, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output_fd, STDERR_FILENO);
    posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);

    /* plumbd's threads block signals, and ignore some. */
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setpgroup(&attributes, 0);

    const int problem = posix_spawn(&child->pid, child->options.program, &actions, &attributes, argv, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return problem;
}

/* The vector has the program's name in front. */
static char **vector_of(const ChildOptions *options) {
    const guint n = g_strv_length((char **)options->arguments);
    char **argv = g_new0(char *, n + 2);
    argv[0] = g_strdup("plumb");
    for (guint i = 0; i < n; i++) argv[i + 1] = g_strdup(options->arguments[i]);
    return argv;
}

static gboolean start(Child *child, GError **error) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return fail(error, PLUMB_ERROR_IO, "no pipe for its output: %s", g_strerror(errno));
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    g_auto(GStrv) argv = vector_of(&child->options);
    g_auto(GStrv) environment = environment_of(child);

    const int problem = spawn(child, argv, environment, ends[1]);
    close(ends[1]);
    child->pipe_fd = ends[0];
    if (problem != 0) {
        child->pid = 0;
        return fail(error, PLUMB_ERROR_IO, "plumb could not be started: %s", g_strerror(problem));
    }

    set_limits(child);
    child->process_fd = (int)syscall(SYS_pidfd_open, child->pid, 0);
    if (child->process_fd >= 0) return TRUE;
    fail(error, PLUMB_ERROR_IO, "the end of a process cannot be waited for: %s", g_strerror(errno));
    kill(-child->pid, SIGKILL);
    while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR) {
    }
    child->pid = 0;
    return FALSE;
}

Child *child_start(const ChildOptions *options, GError **error) {
    Child *child = g_new0(Child, 1);
    child->options = *options;
    child->lines = g_ptr_array_new_with_free_func(g_free);
    child->unfinished = g_string_new(NULL);
    child->pipe_fd = child->process_fd = child->exit_code = -1;
    child->until_ns = clock_monotonic_ns(clock_system()) + options->limits.time_ns;
    if (!start(child, error)) {
        child_free(child);
        return NULL;
    }
    child->options.program = child->options.server = NULL; /* the caller's */
    child->options.arguments = NULL;
    child->output = event_new(options->base, child->pipe_fd, EV_READ | EV_PERSIST, on_output, child);
    child->ending = event_new(options->base, child->process_fd, EV_READ, on_ending, child);
    event_add(child->output, NULL);
    event_add(child->ending, NULL);
    return child;
}

void child_free(Child *child) {
    if (child == NULL) return;
    child_stop(child, CHILD_STOPPED, NULL);
    if (child->pid != 0) reap(child);
    close_output(child);
    g_ptr_array_unref(child->lines);
    g_string_free(child->unfinished, TRUE);
    g_free(child);
}

/* ---- what is known of it ---- */

ChildState child_state(const Child *child) { return child->state; }

const char *child_state_name(ChildState state) {
    static const char *const names[] = {[CHILD_RUNNING] = "running",
                                        [CHILD_DONE] = "done",
                                        [CHILD_FAILED] = "failed",
                                        [CHILD_STOPPED] = "stopped",
                                        [CHILD_CUT] = "cut"};
    return names[state];
}

const char *child_why(const Child *child) { return child->state == CHILD_RUNNING ? NULL : child->why; }
int child_exit_code(const Child *child) { return child->exit_code; }
pid_t child_pid(const Child *child) { return child->pid; }
guint child_lines(const Child *child) { return child->lines->len; }
const char *child_line(const Child *child, guint number) { return g_ptr_array_index(child->lines, number); }
gsize child_bytes(const Child *child) { return child->bytes; }
