#include "analyzer/diagnosis/usage.h"

#include <math.h>

typedef struct Piece {
    gint64 begin_ms, end_ms;
    double value;
    /* Over all pieces before this one: */
    double integral;
    gint64 covered_ms;
} Piece;

struct UsageSeries {
    GArray *pieces; /* Piece */
};

UsageSeries *usage_new(void) {
    UsageSeries *series = g_new0(UsageSeries, 1);
    series->pieces = g_array_new(FALSE, FALSE, sizeof(Piece));
    return series;
}

void usage_free(UsageSeries *series) {
    if (series == NULL) return;
    g_array_unref(series->pieces);
    g_free(series);
}

void usage_add(UsageSeries *series, gint64 begin_ms, gint64 end_ms, double value) {
    if (end_ms <= begin_ms || !isfinite(value)) return;
    const Piece piece = {.begin_ms = begin_ms, .end_ms = end_ms, .value = value};
    g_array_append_val(series->pieces, piece);
}

static gint by_end(gconstpointer left, gconstpointer right) {
    const Piece *a = left, *b = right;
    if (a->end_ms != b->end_ms) return a->end_ms < b->end_ms ? -1 : 1;
    if (a->begin_ms != b->begin_ms) return a->begin_ms < b->begin_ms ? -1 : 1;
    return a->value < b->value ? -1 : a->value > b->value;
}

void usage_seal(UsageSeries *series) {
    g_array_sort(series->pieces, by_end);
    Piece *pieces = (Piece *)series->pieces->data;
    guint kept = 0;
    double integral = 0;
    gint64 covered_ms = 0, reached_ms = G_MININT64;
    for (guint i = 0; i < series->pieces->len; i++) {
        Piece piece = pieces[i];
        piece.begin_ms = MAX(piece.begin_ms, reached_ms);
        if (piece.begin_ms >= piece.end_ms) continue;
        piece.integral = integral;
        piece.covered_ms = covered_ms;
        integral += piece.value * (double)(piece.end_ms - piece.begin_ms);
        covered_ms += piece.end_ms - piece.begin_ms;
        reached_ms = piece.end_ms;
        pieces[kept++] = piece;
    }
    g_array_set_size(series->pieces, kept);
}

gsize usage_size(const UsageSeries *series) { return series->pieces->len; }

/* The first piece that ends after the time; as many as there are when none does. Samples come at even distances, so
 * that a guess is nearly right. */
static guint piece_after(const Piece *pieces, guint n, gint64 at_ms) {
    if (n == 0 || pieces[0].end_ms > at_ms) return 0;
    if (pieces[n - 1].end_ms <= at_ms) return n;
    const double whole = (double)(pieces[n - 1].end_ms - pieces[0].end_ms);
    guint low = 0, high = n - 1; /* pieces[low] does not end after it, pieces[high] does */
    guint guess = (guint)((double)(at_ms - pieces[0].end_ms) / whole * (double)(n - 1));
    guess = CLAMP(guess, 1, high);
    for (guint step = 1; high - low > 1; step *= 2) {
        if (pieces[guess].end_ms <= at_ms) {
            low = guess;
            guess = step < high - low ? low + step : low + (high - low) / 2;
        } else {
            high = guess;
            guess = step < high - low ? high - step : low + (high - low) / 2;
        }
        if (step > 8) guess = low + (high - low) / 2;
        if (guess == low) guess++;
    }
    return high;
}

typedef struct Sum {
    double integral;
    gint64 covered_ms;
} Sum;

/* Over everything before the time. */
static Sum sum_until(const Piece *pieces, guint n, gint64 at_ms) {
    const guint i = piece_after(pieces, n, at_ms);
    if (i == n) {
        const Piece *last = &pieces[n - 1];
        const gint64 length_ms = last->end_ms - last->begin_ms;
        return (Sum){last->integral + last->value * (double)length_ms, last->covered_ms + length_ms};
    }
    const gint64 part_ms = MAX(0, at_ms - pieces[i].begin_ms);
    return (Sum){pieces[i].integral + pieces[i].value * (double)part_ms, pieces[i].covered_ms + part_ms};
}

double usage_mean(const UsageSeries *series, gint64 begin_ms, gint64 end_ms) {
    const Piece *pieces = (const Piece *)series->pieces->data;
    const guint n = series->pieces->len;
    if (n == 0) return NAN;
    if (end_ms <= begin_ms) {
        const guint i = piece_after(pieces, n, begin_ms);
        return i < n && pieces[i].begin_ms <= begin_ms ? pieces[i].value : NAN;
    }
    const Sum from = sum_until(pieces, n, begin_ms), to = sum_until(pieces, n, end_ms);
    const gint64 covered_ms = to.covered_ms - from.covered_ms;
    if (covered_ms * 2 < end_ms - begin_ms) return NAN;
    /* Both sums are large and nearly equal when the interval is short: what is left of rounding must not be below 0. */
    const double integral = to.integral - from.integral;
    return integral > 0 ? integral / (double)covered_ms : 0;
}
