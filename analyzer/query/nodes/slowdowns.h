/* How hosts stand now, and which are suspected, for those who watch all the time. */
#pragma once

#include "analyzer/archive/archive.h"

typedef struct SlowdownVisitor {
    /* host: as spans name it; class: of work. */
    void (*slow)(void *arg, const char *host, const char *class, double slowdown);
    /* How many hosts stand so in a class of work: all states of each class that any host has. */
    void (*count)(void *arg, const char *class, const char *state, guint hosts);
    void *arg;
} SlowdownVisitor;
/* Of the last hour that is stored, the dearest first. Takes of the thread's allowance; those of allowance_check(). */
gboolean slowdowns_find(Archive *archive, gint64 now_ns, const SlowdownVisitor *visitor, GError **error);
