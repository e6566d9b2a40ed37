#include "common/base/clock.h"

#include <time.h>

static gint64 read_clock(clockid_t id) {
    struct timespec now;
    clock_gettime(id, &now);
    return (gint64)now.tv_sec * NS_PER_SEC + now.tv_nsec;
}

static gint64 system_wall_ns(const Clock *clock) {
    (void)clock;
    return read_clock(CLOCK_REALTIME);
}

static gint64 system_monotonic_ns(const Clock *clock) {
    (void)clock;
    return read_clock(CLOCK_MONOTONIC);
}

const Clock *clock_system(void) {
    static const Clock system = {system_wall_ns, system_monotonic_ns};
    return &system;
}

void cond_init_monotonic(pthread_cond_t *cond) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attributes);
    pthread_condattr_destroy(&attributes);
}
