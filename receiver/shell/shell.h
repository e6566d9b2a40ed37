/* All analyses that run, and those that have ended of late: how many there may be, who began them, and what became of
 * them. Each begin, stop and end is logged, with who asked for it. All of it belongs to one thread with an event loop.
 *
 * A child asks plumbd through a socket that nobody else can use: it has a name in no file system, and plumbd takes a
 * connection only from a process that it started itself and that still runs (SO_PEERCRED). So no password is handed to
 * a child, TLS or not, and what it may do is to read. Its questions count to the share of the address that began it. */
#pragma once

#include "receiver/shared/shares.h"
#include "receiver/shell/child.h"
#include "receiver/shell/plan.h"

/* Begun in a minute, of all: each costs a process and a line in the log. */
#define SHELL_PER_MINUTE 60u
/* That have ended, and are kept; and all their lines together, in times shell.output-limit. */
#define SHELL_KEPT         20u
#define SHELL_KEPT_OUTPUTS 4u
/* Of a line, about, when none are asked for; and how many may be. */
#define SHELL_COLUMNS       140u
#define SHELL_COLUMNS_LEAST 40u
#define SHELL_COLUMNS_MOST  400u

typedef struct ShellRun {
    guint64 id;
    const char *analysis; /* static */
    char *command;        /* as somebody would type it */
    char *who;            /* the principal */
    char peer[PEER_NAME_BYTES];
    gint64 begin_time_ns, end_time_ns; /* 0: it runs */
    Child *child;
    struct Shell *shell;
} ShellRun;

typedef struct ShellOptions {
    struct event_base *base;
    const ShellSettings *settings;               /* used until the end */
    gboolean unguarded;                          /* anybody reaches the port, from other hosts too */
    void (*changed)(void *arg, ShellRun *run);   /* there are more lines, or it has ended */
    void (*forgotten)(void *arg, ShellRun *run); /* it is kept no longer */
    void *arg;
} ShellOptions;

typedef struct Shell Shell;
Shell *shell_new(const ShellOptions *options);
/* Kills what runs, and forgets all. */
void shell_end(Shell *shell);
void shell_free(Shell *shell); /* after shell_end() */
/* A new string: why there are no analyses here; NULL: there are. */
char *shell_off(const Shell *shell);
/* Listens for children; -1: there is no shell. It stays the shell's. */
int shell_socket(const Shell *shell);
/* Is it a child of ours that has connected? name: of the peer that began it. */
char *shell_child_of(Shell *shell, int fd, char name[PEER_NAME_BYTES]);

/* Errors: INPUT (no such analysis, or a value), BUSY (too many run), IO. */
ShellRun *shell_begin(Shell *shell, const json_t *request, const char *who, const char *peer, GError **error);
void shell_stop_run(ShellRun *run, const char *who);
/* NULL: there is none, or it is kept no longer. */
ShellRun *shell_find(const Shell *shell, const char *id);
/* All, the newest first; a new reference. */
json_t *shell_list(const Shell *shell);
/* {"id", "analysis", "command", "by", "state", ...}; a new reference. */
json_t *shell_run_json(const ShellRun *run);
/* Each second: ends what has taken too long. */
void shell_tick(Shell *shell);
