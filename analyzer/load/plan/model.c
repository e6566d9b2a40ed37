#include "analyzer/load/plan/model.h"

#include "analyzer/load/plan/portable.h"
#include "common/base/mix64.h"

#define NS 1000000000.0
/* Requests a second of the source's 2,500 nodes. */
#define RATE_MU    6.5
#define RATE_SIGMA 0.8
/* Bytes of a request. */
#define SIZE_MU    8.05
#define SIZE_SIGMA 2.58
/* Bytes of a file: half are below 256 KiB, 90 % below 64 MiB. */
#define FILE_MU    12.48
#define FILE_SIGMA 4.33
/* Of the gaps. A Pareto distribution that begins at 1 has the mean a / (a - 1), a Lomax 1 / (a - 1). */
#define GAP_SHAPE 5.0
/* Past this a size is cut in any case. */
#define LOG_SIZE_MOST 34.0

void draws_init(Draws *draws, guint64 seed) {
    for (guint i = 0; i < DRAW_STREAMS; i++) draws_seed(draws, (DrawStream)i, seed);
}

void draws_seed(Draws *draws, DrawStream stream, guint64 seed) {
    draws->state[stream] = mix64(mix64(seed + 1) + ((guint64)stream + 1) * MIX64_GOLDEN);
}

double draw_uniform(Draws *draws, DrawStream stream) {
    const guint64 bits = mix64_next(&draws->state[stream]) >> 12; /* 52: exact with the half added */
    return ((double)bits + 0.5) * 0x1p-52;
}

guint64 draw_below(Draws *draws, DrawStream stream, guint64 bound) {
    return (guint64)((unsigned __int128)mix64_next(&draws->state[stream]) * bound >> 64);
}

double draw_normal(Draws *draws, DrawStream stream) { return portable_normal(draw_uniform(draws, stream)); }

static gint64 draw_lognormal(Draws *draws, DrawStream stream, double mu, double sigma) {
    const double log_size = mu + sigma * draw_normal(draws, stream);
    return (gint64)portable_exp(MIN(log_size, LOG_SIZE_MOST));
}

gint64 draw_request_bytes(Draws *draws, const LoadModel *model) {
    const gint64 units = draw_lognormal(draws, DRAW_SIZE, SIZE_MU, SIZE_SIGMA);
    return MIN(units, LOAD_FILE_MOST_BYTES / model->size_unit_bytes) * model->size_unit_bytes;
}

gint64 draw_file_bytes(Draws *draws) { return draw_lognormal(draws, DRAW_POPULATION, FILE_MU, FILE_SIGMA); }

double draw_gap(Draws *draws, LoadGaps gaps) {
    if (gaps == GAPS_EVEN) return 1;
    const double u = draw_uniform(draws, DRAW_GAP);
    if (gaps == GAPS_POISSON) return -portable_log(u);
    const double pareto = portable_power(u, -1 / GAP_SHAPE);
    return gaps == GAPS_PARETO ? pareto * (GAP_SHAPE - 1) / GAP_SHAPE : (pareto - 1) * (GAP_SHAPE - 1);
}

static void draw_rate(Arrivals *arrivals) {
    const LoadModel *model = arrivals->model;
    arrivals->rate =
        model->rate > 0 ? model->rate : model->alpha * portable_exp(RATE_MU + RATE_SIGMA * arrivals->log_rate);
    arrivals->rate /= MAX(model->session, 1); /* it is sessions that come */
    arrivals->rate *= load_profile_factor(&model->profile, arrivals->second * (gint64)NS + (gint64)NS / 2);
    const double into_ramp = ((double)arrivals->second + 0.5) * NS / (double)MAX(model->ramp_ns, 1);
    if (into_ramp < 1) arrivals->rate *= into_ramp;
}

void arrivals_init(Arrivals *arrivals, const LoadModel *model, Draws *draws) {
    *arrivals = (Arrivals){.model = model, .draws = draws, .log_rate = draw_normal(draws, DRAW_RATE)};
    draw_rate(arrivals);
}

static void next_second(Arrivals *arrivals) {
    const double kept = arrivals->model->persistence;
    const double new = draw_normal(arrivals->draws, DRAW_RATE);
    arrivals->log_rate = kept * arrivals->log_rate + portable_sqrt(1 - kept * kept) * new;
    arrivals->second++;
    arrivals->at = 0;
    draw_rate(arrivals);
}

gint64 arrivals_next(Arrivals *arrivals, gint64 end_ns) {
    double left = draw_gap(arrivals->draws, arrivals->model->gaps);
    while (left > (1 - arrivals->at) * arrivals->rate && arrivals->second * (gint64)NS < end_ns) {
        left -= (1 - arrivals->at) * arrivals->rate;
        next_second(arrivals);
    }
    arrivals->at = arrivals->at + left / arrivals->rate;
    if (arrivals->at > 1) return end_ns; /* the loop ended at the end of the plan */
    return arrivals->second * (gint64)NS + (gint64)(arrivals->at * NS);
}

double load_model_mean_rate(const LoadModel *model) {
    const double rate =
        model->rate > 0 ? model->rate : model->alpha * portable_exp(RATE_MU + RATE_SIGMA * RATE_SIGMA / 2);
    return rate * load_profile_mean(&model->profile, model->warm_up_ns + model->duration_ns);
}
