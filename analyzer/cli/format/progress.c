#include "analyzer/cli/format/progress.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "analyzer/cli/format/text.h"
#include "analyzer/cli/format/units.h"
#include "common/base/clock.h"

#define FIRST_MS  500
#define REDRAW_MS 200

struct Progress {
    Style style;
    char *label;
    gboolean drawing; /* the thread runs */
    pthread_t thread;
    pthread_mutex_t mutex; /* guards all below */
    pthread_cond_t wake;
    gboolean stop;
    guint64 done, total;
    double fraction;
    const char *unit;
    gint64 begin_ns;
    gboolean drawn;
};

static void draw(Progress *progress) {
    double seconds = (double)(clock_monotonic_ns(clock_system()) - progress->begin_ns) / 1e9;
    GString *line = g_string_new(progress->label);
    double fraction = progress->fraction;
    if (fraction < 0 && progress->total > 0) fraction = (double)progress->done / (double)progress->total;
    if (fraction >= 0) g_string_append_printf(line, "  %.0f %%", MIN(fraction, 1.0) * 100);
    if (progress->unit != NULL) {
        g_autofree char *done = unit_count((double)progress->done);
        g_autofree char *rate = unit_per_s((double)progress->done / MAX(seconds, 0.001));
        g_string_append_printf(line, "  %s %s  %s", done, progress->unit, rate);
    }
    g_string_append_printf(line, "  %.0f s", seconds);
    guint width = progress->style.width > 1 ? progress->style.width - 1 : 79;
    g_autofree char *cut = text_cut(&progress->style, line->str, width);
    fprintf(stderr, "\r\033[K%s", cut);
    fflush(stderr);
    progress->drawn = TRUE;
    g_string_free(line, TRUE);
}

static void wait_ms(Progress *progress, gint64 ms) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    gint64 ns = until.tv_nsec + ms * NS_PER_MS;
    until.tv_sec += ns / NS_PER_SEC;
    until.tv_nsec = ns % NS_PER_SEC;
    while (!progress->stop && pthread_cond_timedwait(&progress->wake, &progress->mutex, &until) == 0) {
    }
}

static void *draw_until_stopped(void *arg) {
    Progress *progress = arg;
    pthread_mutex_lock(&progress->mutex);
    wait_ms(progress, FIRST_MS);
    while (!progress->stop) {
        draw(progress);
        wait_ms(progress, REDRAW_MS);
    }
    pthread_mutex_unlock(&progress->mutex);
    return NULL;
}

Progress *progress_start(const Style *style, const char *label) {
    Progress *progress = g_new0(Progress, 1);
    progress->style = *style;
    progress->label = text_clean(style, label);
    progress->fraction = -1;
    progress->begin_ns = clock_monotonic_ns(clock_system());
    pthread_mutex_init(&progress->mutex, NULL);
    cond_init_monotonic(&progress->wake);
    if (style->progress) progress->drawing = pthread_create(&progress->thread, NULL, draw_until_stopped, progress) == 0;
    return progress;
}

void progress_update(Progress *progress, guint64 done, guint64 total, const char *unit) {
    if (!progress->drawing) return;
    pthread_mutex_lock(&progress->mutex);
    progress->done = done;
    progress->total = total;
    progress->unit = unit;
    pthread_mutex_unlock(&progress->mutex);
}

void progress_fraction(Progress *progress, double fraction) {
    if (!progress->drawing) return;
    pthread_mutex_lock(&progress->mutex);
    progress->fraction = fraction;
    pthread_mutex_unlock(&progress->mutex);
}

void progress_stop(Progress *progress) {
    if (progress == NULL) return;
    if (progress->drawing) {
        pthread_mutex_lock(&progress->mutex);
        progress->stop = TRUE;
        pthread_cond_signal(&progress->wake);
        pthread_mutex_unlock(&progress->mutex);
        pthread_join(progress->thread, NULL);
        if (progress->drawn) fputs("\r\033[K", stderr);
        fflush(stderr);
    }
    pthread_cond_destroy(&progress->wake);
    pthread_mutex_destroy(&progress->mutex);
    g_free(progress->label);
    g_free(progress);
}
