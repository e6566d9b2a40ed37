/* Results of loads as a page. It is drawn of the document alone, and loads nothing. */
#include <math.h>
#include <string.h>

#include "analyzer/cli/format/units.h"
#include "analyzer/cli/show/show.h"
#include "analyzer/cli/show/show_load_waited.h"
#include "analyzer/cli/show/why_text.h"

#define WIDTH  900.0
#define HEIGHT 280.0
#define LEFT   70.0
#define RIGHT  110.0
#define TOP    20.0
#define BOTTOM 30.0

#define WAITED_SHOWN 12u

static const char head[] =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n<title>Load report</title>\n<style>\n"
    ":root{color-scheme:light dark;--ink:#1d2530;--dim:#667;--line:#d5d9e0;--bg:#fff;--c0:#0b6bcb;--c1:#b4540a;"
    "--c2:#127a4b;--c3:#8a3ab9;--c4:#b3261e;--c5:#5b6b00;--c6:#00707a;--c7:#7a4b2a;--c8:#4a4ab0;--c9:#9a2f6b;"
    "--c10:#1d2530}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e4e8ee;--dim:#9aa5b4;--line:#39414d;--bg:#14181e;--c0:#6cb2ff;"
    "--c1:#ffab63;--c2:#62cf9b;--c3:#cf9bf2;--c4:#ff8a80;--c5:#c7d65a;--c6:#5fd0da;--c7:#d8a884;--c8:#a6a6ff;"
    "--c9:#f28ac0;--c10:#e4e8ee}}\n"
    "body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--bg);max-width:960px;margin:2rem auto;"
    "padding:0 1rem}\nh1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2rem}\n"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums}th,td{padding:.2rem .7rem;text-align:right;"
    "border-bottom:1px solid var(--line);white-space:nowrap}th:first-child,td:first-child{text-align:left}\n"
    ".scroll{overflow-x:auto}svg{width:100%;height:auto}svg text{font-size:12px;fill:var(--dim)}\n"
    ".grid{stroke:var(--line)}path{fill:none;stroke-width:1.6}.wrong{color:var(--c4)}.dim{color:var(--dim)}\n"
    "</style></head><body>\n";

/* Appends text from outside between tags. */
static void append_element(GString *out, const char *open, const char *text, const char *close) {
    g_autofree char *escaped = g_markup_escape_text(text, -1);
    g_string_append_printf(out, "%s%s%s", open, escaped, close);
}

static void append_cell(GString *out, char *text) {
    append_element(out, "<td>", text, "</td>");
    g_free(text);
}

static char *time_text(const Style *style, const json_t *object, const char *field) {
    return unit_duration(style, field_number(object, field), 1000);
}

/* ---- pictures ---- */

/* A field of two axes; y is of logarithms where it is of times. */
typedef struct Plot {
    const Style *style;
    double x_from, x_to, y_from, y_to;
    gboolean times;
} Plot;

static double plot_x(const Plot *plot, double x) {
    const double part = plot->x_to > plot->x_from ? (x - plot->x_from) / (plot->x_to - plot->x_from) : 0.5;
    return LEFT + part * (WIDTH - LEFT - RIGHT);
}

static double plot_y(const Plot *plot, double y) {
    const double value = plot->times ? log10(MAX(y, 1)) : y;
    const double part = plot->y_to > plot->y_from ? (value - plot->y_from) / (plot->y_to - plot->y_from) : 0.5;
    return HEIGHT - BOTTOM - CLAMP(part, 0, 1) * (HEIGHT - TOP - BOTTOM);
}

static void append_grid_line(const Plot *plot, double value, GString *out) {
    g_autofree char *label = plot->times ? unit_duration(plot->style, value, 1) : unit_per_s(value);
    const double y = plot_y(plot, value);
    g_string_append_printf(out, "<path class=\"grid\" d=\"M%.0f %.1fH%.0f\"/><text x=\"%.0f\" y=\"%.1f\" ", LEFT, y,
                           WIDTH - RIGHT, LEFT - 6, y + 4);
    append_element(out, "text-anchor=\"end\">", label, "</text>\n");
}

static void plot_begin(const Plot *plot, const char *label, GString *out) {
    g_string_append_printf(out, "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"%s\">\n", WIDTH, HEIGHT,
                           label);
    if (!plot->times) {
        for (int i = 0; i <= 4; i++) append_grid_line(plot, plot->y_to * i / 4, out);
        return;
    }
    const double step = ceil((plot->y_to - plot->y_from) / 6);
    for (double power = plot->y_from; power <= plot->y_to; power += MAX(step, 1))
        append_grid_line(plot, pow(10, power), out);
}

static void append_x_label(const Plot *plot, double x, const char *label, GString *out) {
    g_string_append_printf(out, "<text x=\"%.1f\" y=\"%.0f\" ", plot_x(plot, x), HEIGHT - 8);
    append_element(out, "text-anchor=\"middle\">", label, "</text>\n");
}

static void append_point(const Plot *plot, double x, double y, gboolean first, GString *out) {
    g_string_append_printf(out, "%s%.1f %.1f", first ? "M" : "L", plot_x(plot, x), plot_y(plot, y));
}

/* The end of a line: its name beside its last point. */
static void append_name(const char *name, guint colour, guint place, GString *out) {
    g_string_append_printf(out, "<text x=\"%.0f\" y=\"%.0f\" ", WIDTH - RIGHT + 10, TOP + 12 + 18.0 * place);
    g_string_append_printf(out, "style=\"fill:var(--c%u)\"", colour);
    append_element(out, ">", name, "</text>\n");
}

typedef struct Series {
    const char *field, *name;
    guint colour;
    double width, least_per_s; /* a step of fewer operations is left out */
} Series;

/* How many of the steps it has. */
static guint append_series(const Plot *plot, const json_t *steps, const Series *series, GString *out) {
    gsize i;
    const json_t *step;
    guint drawn = 0;
    gboolean begins = TRUE;
    g_autoptr(GString) line = g_string_new(NULL);
    json_array_foreach((json_t *)steps, i, step) {
        const gboolean left_out = field_number(step, "per_s") < series->least_per_s;
        if (!left_out) {
            append_point(plot, field_number(step, "second"), field_number(step, series->field), begins, line);
            drawn++;
        }
        begins = left_out;
    }
    if (drawn > 0)
        g_string_append_printf(out, "<path style=\"stroke:var(--c%u);stroke-width:%.1f\" d=\"%s\"/>\n", series->colour,
                               series->width, line->str);
    return drawn;
}

/* The longest below the others, and wider: of a step of one operation all are the same. p99 of fewer than 100 is the
 * longest. */
static void append_latencies(const Plot *plot, const json_t *timeline, GString *out) {
    const json_t *steps = field_list(timeline, "steps");
    const double least_per_s = 100 / MAX(field_number(timeline, "step_s"), 1);
    const Series all[] = {
        {"max_ns", "longest", 2, 3, 0}, {"p99_ns", "p99", 1, 1.6, least_per_s}, {"p50_ns", "p50", 0, 1.6, 0}};
    gboolean left_out = FALSE;
    guint place = 0;
    for (guint i = 0; i < G_N_ELEMENTS(all); i++) {
        const guint drawn = append_series(plot, steps, &all[i], out);
        left_out |= drawn < json_array_size(steps);
        if (drawn > 0) append_name(all[i].name, all[i].colour, place++, out);
    }
    g_string_append(out, "</svg>\n");
    if (left_out)
        g_string_append(out,
                        "<p class=\"dim\">p99 is drawn where a point has 100 operations or more: of fewer it is the "
                        "longest.</p>\n");
}

static double greatest(const json_t *rows, const char *field) {
    gsize i;
    const json_t *row;
    double most = 0;
    json_array_foreach((json_t *)rows, i, row) most = MAX(most, field_number(row, field));
    return most;
}

static double least(const json_t *rows, const char *field) {
    gsize i;
    const json_t *row;
    double at_least = INFINITY;
    json_array_foreach((json_t *)rows, i, row) at_least = MIN(at_least, field_number(row, field));
    return MAX(at_least, 1);
}

/* To a number that is easy to read. */
static double round_up(double value) {
    static const double easy[] = {1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10};
    const double power = pow(10, floor(log10(MAX(value, 1e-3))));
    guint i = 0;
    while (i < G_N_ELEMENTS(easy) - 1 && easy[i] * power < value) i++;
    return easy[i] * power;
}

static void append_timeline(const json_t *document, const Style *style, GString *out) {
    const json_t *timeline = field_object(document, "timeline"), *steps = field_list(timeline, "steps");
    const Series due = {"per_s", NULL, 0, 1.6, 0};
    const gsize n = json_array_size(steps);
    if (n == 0) return;

    Plot plot = {.style = style,
                 .x_from = field_number(json_array_get(steps, 0), "second"),
                 .x_to = field_number(json_array_get(steps, n - 1), "second"),
                 .y_from = floor(log10(least(steps, "p50_ns"))),
                 .y_to = ceil(log10(greatest(steps, "max_ns"))),
                 .times = TRUE};
    g_autofree char *from = g_strdup_printf("%.0f s", plot.x_from), *to = g_strdup_printf("%.0f s", plot.x_to);
    g_string_append(out, "<h2>Latency, by when operations were due</h2>\n");
    plot_begin(&plot, "latency by time", out);
    append_x_label(&plot, plot.x_from, from, out);
    append_x_label(&plot, plot.x_to, to, out);
    append_latencies(&plot, timeline, out);
    g_string_append(out, "<h2>Operations that were due</h2>\n");

    plot.times = FALSE;
    plot.y_from = 0;
    plot.y_to = 4 * round_up(greatest(steps, "per_s") / 4);
    plot_begin(&plot, "operations a second by time", out);
    append_x_label(&plot, plot.x_from, from, out);
    append_x_label(&plot, plot.x_to, to, out);
    append_series(&plot, steps, &due, out);
    g_string_append(out, "</svg>\n");
}

/* How many nines: 90 % lie at 1, 99 % at 2. */
static double nines(double p) { return -log10(1 - p); }

static void append_curve(const Plot *plot, const json_t *kind, guint place, GString *out) {
    gsize i;
    const json_t *point;
    const json_t *curve = field_list(kind, "curve");
    if (json_array_size(curve) == 0) return;
    g_string_append_printf(out, "<path style=\"stroke:var(--c%u)\" d=\"", place);
    json_array_foreach((json_t *)curve, i, point)
        append_point(plot, nines(json_number_value(json_array_get(point, 0))),
                     json_number_value(json_array_get(point, 1)), i == 0, out);
    g_string_append(out, "\"/>\n");
    append_name(field_text(kind, "kind"), place, place, out);
}

static void append_curves(const json_t *document, const Style *style, GString *out) {
    static const struct {
        double p;
        const char *name;
    } marks[] = {{0.5, "50 %"}, {0.9, "90 %"}, {0.99, "99 %"}, {0.999, "99.9 %"}, {0.9999, "99.99 %"}};
    Plot plot = {.style = style, .x_to = 1, .y_from = INFINITY, .y_to = 0, .times = TRUE};
    gsize i, j;
    const json_t *kind, *point;
    json_array_foreach((json_t *)field_list(document, "kinds"), i, kind) {
        json_array_foreach((json_t *)field_list(kind, "curve"), j, point) {
            const double y = log10(MAX(json_number_value(json_array_get(point, 1)), 1));
            plot.x_to = MAX(plot.x_to, nines(json_number_value(json_array_get(point, 0))));
            plot.y_from = MIN(plot.y_from, floor(y));
            plot.y_to = MAX(plot.y_to, ceil(y));
        }
    }
    if (isinf(plot.y_from)) return;

    g_string_append(out, "<h2>Latency, by the part of operations that were as fast</h2>\n");
    plot_begin(&plot, "latency by part of the operations", out);
    for (guint m = 0; m < G_N_ELEMENTS(marks); m++)
        if (nines(marks[m].p) <= plot.x_to) append_x_label(&plot, nines(marks[m].p), marks[m].name, out);
    json_array_foreach((json_t *)field_list(document, "kinds"), i, kind) append_curve(&plot, kind, (guint)i, out);
    g_string_append(out, "</svg>\n");
}

/* ---- rates that were tried ---- */

/* One step: x is the logarithm of its rate. */
typedef struct Tried {
    double x;
    const json_t *step;
} Tried;

static gint compare_tried(gconstpointer a, gconstpointer b) {
    const double x = ((const Tried *)a)->x, y = ((const Tried *)b)->x;
    return x < y ? -1 : x > y;
}

static double step_time(const json_t *step, const char *quantile, const char *field) {
    return field_number(field_object(field_object(step, "latency"), quantile), field);
}

/* Those with a latency, by rate. */
static GArray *sorted_steps(const json_t *document) {
    GArray *sorted = g_array_new(FALSE, FALSE, sizeof(Tried));
    gsize i;
    const json_t *step;
    json_array_foreach((json_t *)field_list(document, "steps"), i, step) {
        const Tried tried = {log10(MAX(field_number(step, "rate_per_s"), 1e-3)), step};
        if (field_object(step, "latency") != NULL) g_array_append_val(sorted, tried);
    }
    g_array_sort(sorted, compare_tried);
    return sorted;
}

static void append_rates(const Plot *plot, const GArray *sorted, const char *quantile, guint place, GString *out) {
    g_string_append_printf(out, "<path style=\"stroke:var(--c%u)\" d=\"", place);
    for (guint i = 0; i < sorted->len; i++) {
        const Tried *tried = &g_array_index(sorted, Tried, i);
        append_point(plot, tried->x, step_time(tried->step, quantile, "ns"), i == 0, out);
    }
    g_string_append(out, "\"/>\n");
    append_name(quantile, place, place, out);
}

/* A dot in the colour of the verdict, and its interval. */
static void append_dot(const Plot *plot, const Tried *tried, const char *quantile, GString *out) {
    const char *verdict = field_text(tried->step, "verdict");
    const guint colour = strcmp(verdict, "holds") == 0 ? 2 : strcmp(verdict, "undecided") == 0 ? 5 : 4;
    const double ns = step_time(tried->step, quantile, "ns"), high = step_time(tried->step, quantile, "high_ns");
    const double x = plot_x(plot, tried->x);
    g_string_append_printf(out, "<path style=\"stroke:var(--c%u)\" d=\"M%.1f %.1fV%.1f\"/>", colour, x,
                           plot_y(plot, step_time(tried->step, quantile, "low_ns")), plot_y(plot, MAX(high, ns)));
    g_string_append_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" style=\"fill:var(--c%u)\"><title>", x,
                           plot_y(plot, ns), colour);
    append_element(out, "", verdict, "</title></circle>\n");
}

static void append_tried(const json_t *document, const Style *style, GString *out) {
    g_autoptr(GArray) sorted = sorted_steps(document);
    if (sorted->len == 0) return;
    const char *quantile = field_text(document, "quantile");
    const double bound = field_number(document, "bound_ns");
    Plot plot = {.style = style, .y_from = log10(MAX(bound, 1)), .y_to = log10(MAX(bound, 1)), .times = TRUE};
    for (guint i = 0; i < sorted->len; i++) {
        const json_t *step = g_array_index(sorted, Tried, i).step;
        plot.y_from = MIN(plot.y_from, log10(MAX(step_time(step, "p50", "ns"), 1)));
        plot.y_to = MAX(plot.y_to, log10(MAX(step_time(step, quantile, "ns"), 1)));
    }
    plot.y_from = floor(plot.y_from);
    plot.y_to = ceil(plot.y_to);
    plot.x_from = g_array_index(sorted, Tried, 0).x;
    plot.x_to = g_array_index(sorted, Tried, sorted->len - 1).x;

    const char *kind = field_text(document, "kind");
    if (strcmp(kind, "all") == 0) {
        g_string_append(out, "<h2>Latency, by rate</h2>\n");
    } else {
        append_element(out, "<h2>Latency of ", kind, ", by rate</h2>\n");
    }
    plot_begin(&plot, "latency by rate", out);
    for (guint i = 0; i <= 4; i++) {
        const double x = plot.x_from + (plot.x_to - plot.x_from) * i / 4;
        g_autofree char *label = unit_per_s(pow(10, x));
        if (i == 0 || plot.x_to > plot.x_from) append_x_label(&plot, x, label, out);
    }
    g_string_append_printf(out, "<path style=\"stroke:var(--c4);stroke-dasharray:4\" d=\"M%.0f %.1fH%.0f\"/>\n", LEFT,
                           plot_y(&plot, bound), WIDTH - RIGHT);
    append_rates(&plot, sorted, "p50", 0, out);
    append_rates(&plot, sorted, quantile, 1, out);
    for (guint i = 0; i < sorted->len; i++) append_dot(&plot, &g_array_index(sorted, Tried, i), quantile, out);
    g_string_append(out, "</svg>\n<p class=\"dim\">Both axes are logarithms. Dots: what a run was judged by, with its "
                         "interval of 95 %; dashed: the bound.</p>\n");
}

/* ---- tables ---- */

static void append_quantile(const json_t *latency, const char *name, const Style *style, GString *out) {
    const json_t *quantile = field_object(latency, name);
    g_autofree char *value = time_text(style, quantile, "ns"), *low = time_text(style, quantile, "low_ns");
    const gboolean bounded = json_is_integer(json_object_get(quantile, "high_ns"));
    g_autofree char *high = bounded ? time_text(style, quantile, "high_ns") : g_strdup("?");
    append_element(out, "<td>", value, "");
    append_element(out, "<br><span class=\"dim\">", low, " to ");
    append_element(out, "", high, "</span></td>");
}

static void append_kinds(const json_t *document, const Style *style, GString *out) {
    gsize i;
    const json_t *kind;
    g_string_append(out, "<h2>By kind</h2>\n<p class=\"dim\">Latency since an operation was "
                         "due. Below each quantile "
                         "its interval of 95 %; ?: there are too few to say.</p>\n<div class=\"scroll\"><table>"
                         "<tr><th>kind<th>ended<th>failed<th>per s"
                         "<th>mean<th>p50<th>p90<th>p99<th>longest</tr>\n");

    json_array_foreach((json_t *)field_list(document, "kinds"), i, kind) {
        const json_t *latency = field_object(kind, "latency");
        const double failed = field_number(kind, "failed") + field_number(kind, "unfinished");
        append_element(out, "<tr><td>", field_text(kind, "kind"), "</td>");
        append_cell(out, unit_count(field_number(kind, "operations") - failed));
        append_cell(out, unit_count(failed));
        append_cell(out, unit_per_s(field_number(kind, "per_s")));
        if (latency != NULL) {
            append_cell(out, time_text(style, latency, "mean_ns"));
            append_quantile(latency, "p50", style, out);
            append_quantile(latency, "p90", style, out);
            append_quantile(latency, "p99", style, out);
            append_cell(out, time_text(style, latency, "max_ns"));
        }
        g_string_append(out, "</tr>\n");
    }
    g_string_append(out, "</table></div>\n");
}

/* As bars: the greatest parts of the critical path. */
static void append_waited(const json_t *document, const Style *style, GString *out) {
    gsize i;
    const json_t *call;
    const json_t *calls = field_list(field_object(document, "waited"), "calls");
    if (json_array_size(calls) == 0) return;

    g_string_append(out, "<h2>Whom the operations waited for</h2>\n<p class=\"dim\">The greatest parts of the critical "
                         "path; all add up to the time that operations took.</p>\n<div class=\"scroll\"><table>"
                         "<tr><th>waited for<th>share<th><th>time</tr>\n");

    json_array_foreach((json_t *)calls, i, call) {
        const double share = 100 * field_number(call, "share");
        g_autofree char *whom = why_whom(style, call);
        if (i == WAITED_SHOWN) break;
        append_element(out, "<tr><td>", whom, "");
        append_element(out, "<br><span class=\"dim\">in ", field_text(call, "function"), "</span></td>");
        append_cell(out, g_strdup_printf("%.1f %%", share));
        g_string_append_printf(out,
                               "<td><svg viewBox=\"0 0 100 10\" style=\"width:100px;height:10px\"><rect width=\"%.1f\" "
                               "height=\"10\" style=\"fill:var(--c0)\"/></svg></td>",
                               share);
        append_cell(out, time_text(style, call, "critical_ns"));
        g_string_append(out, "</tr>\n");
    }
    g_string_append(out, "</table></div>\n");
}

static void append_slowest(const json_t *document, const Style *style, GString *out) {
    gsize i;
    const json_t *slow;
    g_string_append(out, "<h2>The slowest</h2>\n<div class=\"scroll\"><table><tr><th>kind<th>operation<th>due at"
                         "<th>latency<th>service<th>trace</tr>\n");
    json_array_foreach((json_t *)field_list(document, "slowest"), i, slow) {
        append_element(out, "<tr><td>", field_text(slow, "kind"), "</td>");
        append_cell(out, unit_count(field_number(slow, "operation")));
        append_cell(out, g_strdup_printf("%.3f s", field_number(slow, "due_ns") / 1e9));
        append_cell(out, time_text(style, slow, "latency_ns"));
        append_cell(out, time_text(style, slow, "service_ns"));
        append_element(out, "<td><code>", field_text(slow, "trace"), "</code></td></tr>\n");
    }
    g_string_append(out, "</table></div>\n");
}

/* How many paragraphs come before what is wrong with the run: its head, what kind of run it is, and its rate. */
static gssize plain_paragraphs(const json_t *document) {
    const gboolean closed = field_true(document, "closed");
    const gboolean sessions = field_present(field_object(document, "head"), "plan-session") && !closed;
    return 2 + closed + sessions + (json_array_size(field_list(document, "hosts")) > 0);
}

/* The paragraphs above the first table are those of the text, which ends with an empty line. */
static void append_words(const json_t *document, Show show, const Style *style, GString *out) {
    ShowOptions plain = {.style = *style};
    g_autoptr(GString) text = g_string_new(NULL);
    show(document, &plain, text);
    char *end = strstr(text->str, "\n\n");
    if (end != NULL) *end = '\0';
    g_auto(GStrv) lines = g_strsplit(text->str, "\n", 0);
    for (char **line = lines; *line != NULL; line++)
        append_element(out, line - lines >= plain_paragraphs(document) ? "<p class=\"wrong\">" : "<p>", *line,
                       "</p>\n");
}

static void append_run(const json_t *document, const Style *style, GString *out) {
    json_auto_t *rest = json_copy((json_t *)document);
    g_autofree char *verdict = show_load_verdict(document, style);
    append_element(out, "<h1>Load: ", field_text(document, "result"), "</h1>\n");
    if (verdict != NULL) append_element(out, "<p><strong>", verdict, "</strong></p>\n");
    json_object_del(rest, "waited");
    append_words(rest, show_load_report, style, out);
    append_kinds(document, style, out);
    append_waited(document, style, out);
    append_timeline(document, style, out);
    append_curves(document, style, out);
    append_slowest(document, style, out);
}

static void append_changes(const json_t *document, const Style *style, GString *out) {
    gsize i;
    const json_t *change;
    g_string_append(out, "<h1>What differs</h1>\n");
    if (!field_true(document, "same_plan"))
        g_string_append(out,
                        "<p class=\"wrong\">The two runs had different plans: what differs may be the load.</p>\n");
    g_string_append(out,
                    "<div class=\"scroll\"><table><tr><th>kind<th>quantile<th>before<th>after<th>ratio<th></tr>\n");
    json_array_foreach((json_t *)field_list(document, "changes"), i, change) {
        append_element(out, "<tr><td>", field_text(change, "kind"), "</td>");
        append_element(out, "<td>", field_text(change, "quantile"), "</td>");
        append_cell(out, time_text(style, change, "before_ns"));
        append_cell(out, time_text(style, change, "after_ns"));
        append_cell(out, g_strdup_printf("%.2f", field_number(change, "ratio")));
        append_element(out, "<td>", field_text(change, "verdict"), "</td></tr>\n");
    }
    g_string_append(out, "</table></div>\n");
}

static void append_steps(const json_t *document, const Style *style, GString *out) {
    gsize i;
    const json_t *step;
    const char *quantile = field_text(document, "quantile");
    g_autofree char *median = show_load_judged(document, "p50"), *judged = show_load_judged(document, quantile);
    g_string_append(out, "<h2>All that was tried</h2>\n<div class=\"scroll\"><table><tr><th>step<th>search<th>rate"
                         "<th>achieved");
    append_element(out, "<th>", median, "");
    append_element(out, "<th>", judged, "<th><th>why</tr>\n");
    json_array_foreach((json_t *)field_list(document, "steps"), i, step) {
        const json_t *latency = field_object(step, "latency");
        g_string_append_printf(out, "<tr><td>%u</td>", (guint)i + 1);
        append_cell(out, unit_count(field_number(step, "search")));
        append_cell(out, unit_per_s(field_number(step, "rate_per_s")));
        append_cell(out, unit_per_s(field_number(step, "achieved_per_s")));
        append_quantile(latency, "p50", style, out);
        append_quantile(latency, quantile, style, out);
        append_element(out, "<td>", field_text(step, "verdict"), "</td>");
        append_element(out, "<td>", field_text(step, "why"), "</td></tr>\n");
    }
    g_string_append(out, "</table></div>\n");
}

static void append_find(const json_t *document, const Style *style, GString *out) {
    append_element(out, "<h1>Greatest rate: ", field_text(document, "folder"), "</h1>\n");
    append_words(document, show_load_find, style, out);
    append_tried(document, style, out);
    append_steps(document, style, out);
}

void show_load_html(const json_t *document, const ShowOptions *options, GString *out) {
    Style style = options->style;
    style.width = 0;
    style.colour = FALSE;
    style.utf8 = TRUE;
    g_string_append(out, head);
    if (field_present(document, "changes")) {
        append_changes(document, &style, out);
        append_run(field_object(document, "before"), &style, out);
        append_run(field_object(document, "after"), &style, out);
    } else if (field_present(document, "find_max")) {
        append_find(document, &style, out);
    } else {
        append_run(document, &style, out);
    }
    g_string_append(out, "</body></html>\n");
}
