/* Keeps the process within memory.limit: open traces may have what everything else leaves. How much that is, is not
 * computed but measured four times a second, since the store, its compactions and the allocator decide it. */
#pragma once

#include <glib.h>

/* For the whole process, before there are threads: large blocks go back to the system as soon as they are free (5
 * million spans of 3,000 hosts, then with four arenas: 255 instead of 312 MiB), and no thread waits for one of another
 * that allocates. */
void memory_init(void);
/* What lies free in the allocator goes back to the system. A few milliseconds, in which any thread may have to
 * wait: not on a thread that gives way to others. */
void memory_trim(void);
/* Any thread: much lies free, so that memory_trim() is worth it soon. Resource control looks. */
void memory_ask_trim(void);
gboolean memory_is_trim_asked(void);

/* Without what is mapped from files. 0: the system does not tell. */
guint64 memory_resident_bytes(void);

/* What the program has of the allocator, the store's share included, without what lies free there. Reads every list of
 * free blocks: not for each span. */
guint64 memory_allocated_bytes(void);

typedef struct MemoryUse {
    guint64 resident_bytes;
    guint64 held_bytes, used_bytes; /* for open traces: what the system sees, and what is in use of it */
} MemoryUse;

/* What everything but open traces has. Begin with expected_bytes alone. One thread. */
typedef struct OtherMemory {
    guint64 expected_bytes; /* what it will be under load, at least: traces that were let in before that
                               do not go at once when it is wanted */
    guint64 peak_bytes;     /* the most that it was lately */
} OtherMemory;
/* How much open traces may use, of limit_bytes in all: at least a quarter, however much the others have. */
guint64 memory_for_traces(OtherMemory *others, const MemoryUse *use, guint64 limit_bytes);
