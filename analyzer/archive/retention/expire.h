/* How long what is stored is kept. Ages count from the end of what is stored, or from now when that is earlier: so
 * nothing goes while nothing comes, and a clock that jumps ahead takes nothing with it. */
#pragma once

#include "analyzer/archive/archive.h"

/* 0: for ever. */
typedef struct ExpireAges {
    gint64 traces_ns;
    gint64 level_ns[LEVEL_COUNT]; /* of statistics */
} ExpireAges;

typedef struct ExpireOptions {
    ExpireAges ages;
    gint64 now_ns;
    guint max_records; /* of one call, about: then it comes back, so that others get their turn */
} ExpireOptions;

typedef struct ExpireResult {
    guint64 traces, spans; /* removed */
    guint damaged;         /* records that cannot be read: they stay */
    gboolean more;         /* not finished: call again */
} ExpireResult;

/* Removes some of what is past its age. Whole files go at once. Any thread. NO_SPACE, IO. */
gboolean archive_expire(Archive *archive, const ExpireOptions *options, ExpireResult *result, GError **error);

/* Rewrites the files of the time before, so that what was removed leaves the disk also where it shares files with what
 * stays: when space is short. Takes as long as writing what stays. */
gboolean archive_compact(Archive *archive, gint64 until_ns, GError **error); /* for tests */
