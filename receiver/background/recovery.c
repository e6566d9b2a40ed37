#include "receiver/background/recovery.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/base/thread.h"
#include "receiver/shared/log.h"

#define PROGRESS_NS (10 * NS_PER_SEC)
/* Between looks whether there is room, or a stop was asked for. */
#define PAUSE_NS (2 * NS_PER_MS)
/* Between attempts while the store fails. */
#define RETRY_NS NS_PER_SEC

struct Recovery {
    RecoveryOptions options;
    Intake *intake;
    pthread_t thread;
    atomic_bool cancelled;
    guint64 frames, spans;
    guint64 done_bytes; /* of the segments before this one */
    gint64 progress_ns; /* when the next progress line is due */
    gboolean admission_shut;
};

/* ---- waiting ---- */

static gboolean is_cancelled(const Recovery *recovery) { return atomic_load(&recovery->cancelled); }

static void pause_shortly(void) {
    const struct timespec pause = timespec_of(PAUSE_NS);
    nanosleep(&pause, NULL);
}

static gboolean has_room(const IntakeOptions *to) {
    for (guint i = 0; i < to->n_shards; i++)
        if (shard_replay_full(to->shards[i])) return FALSE;
    return to->recorder == NULL || !recorder_full(to->recorder);
}

/* FALSE: a stop was asked for. */
static gboolean wait_room(const Recovery *recovery) {
    while (!is_cancelled(recovery) && !has_room(&recovery->options.intake)) pause_shortly();
    return !is_cancelled(recovery);
}

static gboolean wait_retry(const Recovery *recovery) {
    const gint64 until_ns = clock_monotonic_ns(clock_system()) + RETRY_NS;
    while (!is_cancelled(recovery) && clock_monotonic_ns(clock_system()) < until_ns) pause_shortly();
    return !is_cancelled(recovery);
}

/* ---- telling ---- */

static void note_progress(Recovery *recovery, gsize at) {
    RecoveryView *view = recovery->options.view;
    atomic_store(&view->done_bytes, recovery->done_bytes + at);
    const gint64 now_ns = clock_monotonic_ns(clock_system());
    if (now_ns < recovery->progress_ns) return;
    recovery->progress_ns = now_ns + PROGRESS_NS;
    log_message(LOG_LEVEL_NOTICE, "recovering from the journal: %.0f %%, %" G_GUINT64_FORMAT " spans",
                100 * recovery_share(view), recovery->spans);
}

static void note_damages(Recovery *recovery, JournalSegment *segment, guint damages) {
    counter_add(recovery->options.counters, COUNTER_DAMAGED_RECORDS, damages);
    journal_mark_damaged(recovery->options.journal, segment);
}

static void report_damage(Recovery *recovery, JournalSegment *segment, guint damages, const char *what) {
    note_damages(recovery, segment, damages);
    log_message(LOG_LEVEL_ERROR, "%s: %s; all else in it is taken, and the file is kept as %s.damaged",
                journal_segment_path(segment), what, journal_segment_path(segment));
}

static void report_reader(Recovery *recovery, JournalSegment *segment, const JournalReader *reader) {
    if (reader->damages == 0) return;
    g_autofree char *what =
        g_strdup_printf("%" G_GSIZE_FORMAT " bytes from byte %" G_GSIZE_FORMAT " on are damaged or cut off (%u places)",
                        reader->damaged_bytes, reader->first_damage, reader->damages);
    report_damage(recovery, segment, reader->damages, what);
}

/* Nothing after it was ever written here, so nothing else can be missing. */
static void report_torn(const JournalSegment *segment) {
    log_message(LOG_LEVEL_NOTICE,
                "%s ends in a batch that was being written when plumbd was ended; unless the machine went down with "
                "it, its sender had no reply and sends it again",
                journal_segment_path(segment));
}

/* What is behind the last record that could be read. */
static void report_end(Recovery *recovery, JournalSegment *segment, const JournalReader *reader,
                       const JournalNext *next) {
    const gsize end = journal_reader_end(reader);
    const gboolean short_of = next->exact ? end < next->size_bytes : reader->size_bytes < next->size_bytes;
    if (short_of) {
        g_autofree char *what =
            g_strdup_printf("its end is missing or damaged, from byte %" G_GSIZE_FORMAT " to byte %" G_GUINT64_FORMAT,
                            end, next->size_bytes);
        report_damage(recovery, segment, 1, what);
    } else if (reader->torn_bytes > 0 && !next->last && next->size_bytes == 0) {
        g_autofree char *what =
            g_strdup_printf("nothing can be read from byte %" G_GSIZE_FORMAT " on, where its records may go on", end);
        report_damage(recovery, segment, 1, what);
    } else if (reader->torn_bytes > 0) {
        report_torn(segment);
    }
}

/* What it lacks is counted as damage: as its header, a record, or its end. */
static void report_unreadable(Recovery *recovery, JournalSegment *segment, const JournalFile *file,
                              const JournalReader *reader) {
    int why;
    const gsize bytes = journal_file_unreadable_bytes(file, &why);
    if (bytes == 0) return;
    log_message(LOG_LEVEL_ERROR, "%" G_GSIZE_FORMAT " bytes of %s cannot be read (%s): see to the disk", bytes,
                journal_segment_path(segment), g_strerror(why));
    /* Of the newest one, nothing else tells. */
    if (reader->torn_bytes > 0) report_damage(recovery, segment, 1, "its end cannot be read");
}

static void report_missing(Recovery *recovery, const JournalSegment *segment, const JournalNext *next) {
    if (next->missing == 0) return;
    counter_add(recovery->options.counters, COUNTER_DAMAGED_RECORDS, next->missing);
    log_message(LOG_LEVEL_ERROR,
                "the journal lacks %u files after %s: what they held is lost, unless somebody has them elsewhere",
                next->missing, journal_segment_path(segment));
}

static void note_store(Recovery *recovery, const GError *problem) {
    Admission *admission = recovery->options.intake.admission;
    if (problem == NULL && recovery->admission_shut) {
        admission_open(admission, ADMISSION_STORE_FAILS);
        log_message(LOG_LEVEL_NOTICE, "the store takes what is recovered again");
    } else if (problem != NULL && !recovery->admission_shut) {
        admission_shut(admission, ADMISSION_STORE_FAILS, problem->message);
        log_message(LOG_LEVEL_ERROR, "recovery waits: %s", problem->message);
    }
    recovery->admission_shut = problem != NULL;
}

/* ---- replaying ---- */

static gboolean is_damage(const GError *problem) {
    return g_error_matches(problem, PLUMB_ERROR, PLUMB_ERROR_INPUT) ||
           g_error_matches(problem, PLUMB_ERROR, PLUMB_ERROR_LIMIT);
}

/* FALSE: a stop was asked for before it could be done. */
static gboolean replay_frame(Recovery *recovery, Bytes frame, JournalSegment *segment) {
    static LogLimit limit;

    for (;;) {
        if (!wait_room(recovery)) return FALSE;

        guint32 spans = 0;
        g_autoptr(GError) problem = NULL;
        if (intake_replay(recovery->intake, frame, segment, &spans, &problem)) {
            note_store(recovery, NULL);
            recovery->frames++;
            recovery->spans += spans;
            counter_add(recovery->options.counters, COUNTER_RECOVERED_FRAMES, 1);
            counter_add(recovery->options.counters, COUNTER_RECOVERED_SPANS, spans);
            return TRUE;
        }

        if (is_damage(problem)) {
            log_limited(&limit, LOG_LEVEL_ERROR, "%s holds a batch that cannot be decoded: %s",
                        journal_segment_path(segment), problem->message);
            note_damages(recovery, segment, 1);
            return TRUE;
        }

        note_store(recovery, problem);
        if (!wait_retry(recovery)) return FALSE;
    }
}

static gboolean replay(Recovery *recovery, JournalReader *reader, JournalSegment *segment) {
    Bytes frame;
    while (journal_reader_next(reader, &frame)) {
        if (!replay_frame(recovery, frame, segment)) return FALSE;
        note_progress(recovery, reader->at);
    }
    return TRUE;
}

/* FALSE: nothing can be found in it. */
static gboolean begin_reading(Recovery *recovery, JournalSegment *segment, JournalFile *file, const JournalNext *next,
                              JournalReader *reader) {
    g_autoptr(GError) problem = NULL;
    const JournalSource source = journal_file_source(file);
    Bytes bytes = journal_file_bytes(file);
    /* What is behind its end mark is of another time. */
    if (next->size_bytes > 0) bytes.size_bytes = MIN(bytes.size_bytes, next->size_bytes + JOURNAL_RECORD_HEADER_BYTES);
    *reader = (JournalReader){.size_bytes = bytes.size_bytes};
    if (journal_reader_init(reader, bytes, source, &problem)) return TRUE;

    /* A crash while it was made: nothing was in it yet. */
    if (bytes.size_bytes < JOURNAL_HEADER_2_BYTES && next->size_bytes == 0) return FALSE;
    report_damage(recovery, segment, 1, problem->message);
    if (next->salt == 0) return FALSE;
    journal_reader_init_without_header(reader, bytes, source, next->salt);
    return TRUE;
}

static gboolean recover_segment(Recovery *recovery, guint i) {
    Journal *journal = recovery->options.journal;
    JournalSegment *segment;
    g_autoptr(JournalFile) file = NULL;
    g_autoptr(GError) problem = NULL;
    const JournalNext next = journal_found_next(journal, i);
    if (!journal_found_open(journal, i, &segment, &file, &problem)) {
        log_message(LOG_LEVEL_ERROR, "a journal segment cannot be read: %s", problem->message);
        counter_add(recovery->options.counters, COUNTER_DAMAGED_RECORDS, 1);
        return TRUE;
    }

    JournalReader reader;
    if (begin_reading(recovery, segment, file, &next, &reader)) {
        if (!replay(recovery, &reader, segment)) return FALSE;
        report_reader(recovery, segment, &reader);
        report_end(recovery, segment, &reader, &next);
    }
    report_unreadable(recovery, segment, file, &reader);
    report_missing(recovery, segment, &next);

    recovery->done_bytes += journal_file_bytes(file).size_bytes;
    journal_found_done(journal, segment);
    return TRUE;
}

static void *recovery_main(void *arg) {
    Recovery *recovery = arg;
    RecoveryView *view = recovery->options.view;
    const guint n = journal_found(recovery->options.journal);
    log_message(LOG_LEVEL_NOTICE, "recovering from the journal: %u segments, %.1f MB; new spans are taken meanwhile", n,
                (double)atomic_load(&view->total_bytes) / 1e6);
    recovery->progress_ns = clock_monotonic_ns(clock_system()) + PROGRESS_NS;
    gboolean good = TRUE;
    for (guint i = 0; i < n && good; i++) good = recover_segment(recovery, i);
    if (recovery->admission_shut) admission_open(recovery->options.intake.admission, ADMISSION_STORE_FAILS);
    g_clear_pointer(&recovery->intake, intake_free);
    if (!good) return NULL;
    atomic_store(&view->goes_on, FALSE);
    log_message(LOG_LEVEL_NOTICE,
                "recovered %" G_GUINT64_FORMAT " spans of %" G_GUINT64_FORMAT " batches from the journal",
                recovery->spans, recovery->frames);
    return NULL;
}

/* ---- life ---- */

void recovery_view_init(RecoveryView *view, Journal *journal) {
    atomic_init(&view->goes_on, journal_found(journal) > 0);
    atomic_init(&view->total_bytes, journal_usage(journal).unread_bytes);
    atomic_init(&view->done_bytes, 0);
}

Recovery *recovery_start(const RecoveryOptions *options) {
    if (!atomic_load(&options->view->goes_on)) return NULL;
    Recovery *recovery = g_new0(Recovery, 1);
    recovery->options = *options;
    recovery->intake = intake_new(&options->intake, options->counters);
    intake_set_limit(recovery->intake, options->limit);
    thread_start(&recovery->thread, "recovery", recovery_main, recovery);
    return recovery;
}

void recovery_stop(Recovery *recovery) {
    if (!recovery) return;
    atomic_store(&recovery->cancelled, TRUE);
    pthread_join(recovery->thread, NULL);
    g_free(recovery);
}
