#include "receiver/shared/files.h"

#include <sys/resource.h>

#include "common/base/error.h"
#include "receiver/shared/log.h"

/* The limit; as high as it can be made. 0: none. */
static rlim_t raise_limit(void) {
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0) return 0;
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY) return 0;
    return files.rlim_cur;
}

gboolean files_plan(const FilePlan *wanted, FilePlan *plan, GError **error) {
    *plan = *wanted;
    const rlim_t limit = raise_limit(), threads = (rlim_t)wanted->net_threads * FILES_NET_THREAD;
    if (limit == 0) return TRUE;
    if (limit < FILES_LEAST)
        return fail(error, PLUMB_ERROR_CONFIG,
                    "only %lu files may be open, and plumbd needs %u at the "
                    "least: raise `ulimit -n`, or LimitNOFILE of its service",
                    (gulong)limit, FILES_LEAST);

    const rlim_t left = limit - MIN(threads, limit / 2), reserved = MIN(FILES_RESERVED, left / 2);
    const rlim_t senders = left - reserved;
    plan->readers = (guint)MIN(wanted->readers, reserved / 3);
    plan->store = (guint)MIN(wanted->store, reserved * 2 / 3 - reserved / 12);
    if (wanted->senders <= senders) return TRUE;
    plan->senders = (guint)senders;
    log_message(LOG_LEVEL_WARNING,
                "listen.max-connections is %u, but only %lu files may be open: at most %u connections of senders are "
                "taken, and %u over HTTP; raise `ulimit -n`, or LimitNOFILE of the service, to %u",
                wanted->senders, (gulong)limit, plan->senders, plan->readers,
                (guint)threads + wanted->senders + FILES_RESERVED);
    return TRUE;
}
