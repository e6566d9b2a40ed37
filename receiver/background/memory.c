#include "receiver/background/memory.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

/* Above the messages from network threads to shards, which must not cost fresh pages each. */
#define MMAP_THRESHOLD_BYTES (768 * 1024)
#define TRIM_THRESHOLD_BYTES (2 * 1024 * 1024)
/* More than threads, of which settings allow 256 shards, 130 that read and accept, 65 for questions, and some more:
 * each has one of its own. With four for all, a thread that takes spans in waited up to 15 ms for one that a thread of
 * questions held, which gives way to all others while it holds it. It costs no memory that could be measured (90
 * million spans: 355 MiB at most, 353 with four), since a thread keeps little that it does not use. */
#define MALLOC_ARENAS 1024
/* The program itself, and libraries. */
#define FILES_BYTES (24u * 1024 * 1024)
/* A peak of the others is forgotten by a 256th with each look, of which there are four a second: by half in three
 * quarters of a minute. */
#define FORGET_PART 256u
/* At least so much of what is held can be in use: when little is, closing more traces would not give the rest back. */
#define USED_SHARE 0.75

void memory_init(void) {
    mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD_BYTES);
    mallopt(M_TRIM_THRESHOLD, TRIM_THRESHOLD_BYTES);
    mallopt(M_ARENA_MAX, MALLOC_ARENAS);
}

static atomic_bool trim_asked;

void memory_ask_trim(void) { atomic_store(&trim_asked, TRUE); }

gboolean memory_is_trim_asked(void) { return atomic_load(&trim_asked); }

void memory_trim(void) {
    atomic_store(&trim_asked, FALSE);
    malloc_trim(0);
}

guint64 memory_resident_bytes(void) {
    char text[128];
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    const ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    unsigned long resident, shared;
    if (length <= 0) return 0;
    text[length] = '\0';
    if (sscanf(text, "%*u %lu %lu", &resident, &shared) != 2 || shared > resident) return 0;
    return (guint64)(resident - shared) * (guint64)sysconf(_SC_PAGESIZE) + FILES_BYTES;
}

guint64 memory_allocated_bytes(void) {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

guint64 memory_for_traces(OtherMemory *others, const MemoryUse *use, guint64 limit_bytes) {
    const guint64 now_bytes = use->resident_bytes - MIN(use->held_bytes, use->resident_bytes);
    others->peak_bytes = MAX(now_bytes, others->peak_bytes - others->peak_bytes / FORGET_PART);
    const guint64 left = limit_bytes - MIN(MAX(others->peak_bytes, others->expected_bytes), limit_bytes);
    guint64 usable = left / 8 * 7;
    /* More is held than there is room for, and what is given back lies between pieces in use: it counts. As long as
     * there is room it does not, since it is what is filled next; else the fewer traces were let in, the fewer would
     * be. */
    if (use->held_bytes > left && use->used_bytes < use->held_bytes)
        usable = (guint64)((double)left * MAX(USED_SHARE, (double)use->used_bytes / (double)use->held_bytes));
    return MAX(usable, limit_bytes / 4);
}
