/* One analysis that runs: a child process, `plumb` with an argument vector, and the lines that it wrote so far.
 *
 * The child is started without a shell, with a clean environment, no descriptors but its output, in a process group of
 * its own, at low priority, the first to go when memory ends, and with limits: processor time, memory, no files, no
 * core. It ends when it has taken too long or written too much, and with plumbd, however that ends (PLUMB_LEASH,
 * analyzer/cli/leash.h). Of its output the first lines are kept: they have what matters most, and a reader who comes
 * back goes on where it was. All of it belongs to one thread with an event loop. */
#pragma once

#include <event2/event.h>
#include <glib.h>
#include <sys/types.h>

#include "receiver/shell/limits.h"

/* A longer line is cut into several. */
#define CHILD_LINE_BYTES (16u * 1024)
#define CHILD_LINES      20000u

typedef enum {
    CHILD_RUNNING,
    CHILD_DONE,
    CHILD_FAILED, /* it ended with an exit code other than 0, or by a signal of somebody else */
    CHILD_STOPPED,
    CHILD_CUT, /* it reached a limit */
} ChildState;

typedef struct Child Child;
typedef struct ChildOptions {
    struct event_base *base;
    const char *program;          /* an absolute path */
    const char *const *arguments; /* without the program's name */
    const char *server;           /* the address that it asks: PLUMB_SERVER */
    guint columns;                /* of its lines, about */
    ChildLimits limits;
    void (*changed)(void *arg, Child *child); /* there are more lines, or it has ended */
    void *arg;
} ChildOptions;

/* Error IO: it could not be started. */
Child *child_start(const ChildOptions *options, GError **error);
/* Kills it, if it still runs, and waits for its end, which is moments then. */
void child_free(Child *child);
/* Kills it; its end is told later. Nothing happens when it has ended. why: static; what a limit was, or NULL. */
void child_stop(Child *child, ChildState state, const char *why);
/* Ends what has taken too long. */
void child_tick(Child *child, gint64 now_ns);

ChildState child_state(const Child *child);
const char *child_state_name(ChildState state);
const char *child_why(const Child *child); /* NULL: nothing is to be said */
int child_exit_code(const Child *child);   /* -1: it runs, or was killed */
pid_t child_pid(const Child *child);       /* 0: it has ended */
guint child_lines(const Child *child);
const char *child_line(const Child *child, guint number); /* from 0 on; UTF-8 */
gsize child_bytes(const Child *child);
