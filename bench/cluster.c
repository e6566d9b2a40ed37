#include "bench/cluster.h"

#include <math.h>
#include <string.h>

#include "bench/fleet.h"
#include "common/base/clock.h"

#define STRETCHES   4096u
#define OPS_OF_TASK 16u
/* A large job is over after so many turns, however large: it runs on many hosts at once. */
#define TURNS_OF_JOB 200u
#define PATH_MOST    288u
/* Sizes: so many traces are a single operation, so many have 10 to 500 spans, the others more, by a power law. */
#define SINGLE_SHARE  0.40
#define MIDDLE_SHARE  0.57
#define MIDDLE_LEAST  10.0
#define MIDDLE_MOST   500.0
#define POWER         1.3
#define METHODS_SHARE 0.3 /* of single operations: those that are not in the captured run */
#define PATH_NUMBERS  G_GUINT64_CONSTANT(10000000000)
#define PATH_STEP     G_GUINT64_CONSTANT(6180339887) /* no common factor: numbers repeat after 10^10 */
#define FIRST_BLOCK   1073741824u
#define HANDLERS      10u /* threads of a NameNode that serve calls */
/* Begun traces are completed with ids that nobody drew in between. */
#define IDS_OF_OPEN ((guint64)1 << 40)

typedef struct Job {
    guint64 trace, root, task; /* places of their ids; task 0: none under way */
    const Recipe *recipe;      /* NULL: a single operation */
    guint32 template;
    guint64 ops_left, spans;
    guint32 per_turn, task_ops, op; /* op: of the job or of its task, in the recipe's order */
    guint32 host, task_host;
    guint64 thread, task_thread; /* where their threads are in the sequences of ids; 0: no block taken yet */
    gint64 begin_ns, task_begin_ns;
    gboolean has_tasks;
} Job;

/* Room for the paths of one span, besides its values. */
typedef struct SpanTexts {
    FrameValue values[TEMPLATE_MOST_VALUES];
    FrameNote notes[TEMPLATE_MOST_VALUES];
    char paths[TEMPLATE_MOST_VALUES][PATH_MOST];
} SpanTexts;

struct Cluster {
    ClusterOptions options;
    TemplateSet *set;
    Fleet fleet;
    guint64 random;
    Job *jobs;
    guint32 turn;
    guint64 op; /* operations so far: numbers of paths and blocks */
    double ns_per_span;
    double stretch[STRETCHES];
    SpanTexts texts;      /* scratch: of a span */
    guint64 *places;      /* scratch: of the ids of the operation's spans */
    guint64 **threads;    /* scratch: of the operation, where they are */
    guint64 *new_threads; /* scratch */
    guint64 *handlers;    /* of the NameNodes, HANDLERS each */
    guint32 single_spans; /* threshold of 32 bits: spans withheld singly */
};

/* One operation to be said. */
typedef struct Op {
    const Template *template;
    guint64 trace, parent; /* of its root; places */
    guint32 host;          /* of its client */
    guint64 *thread;       /* of its client; NULL: ids come from its number */
    guint64 number;        /* of its path */
    guint32 first, end;    /* the spans of it to say */
} Op;

typedef struct OpState {
    guint32 processes[PLACES];
    gint64 begin_ns;
    double stretch;
    char path[32]; /* the folders that are its own */
    guint32 path_bytes;
} OpState;

static gint64 now_ns(const Cluster *c) {
    return c->options.begin_ns + (gint64)((double)c->fleet.counts.made * c->ns_per_span);
}

static gint64 rounded(const Cluster *c, gint64 ns) { return c->options.nanoseconds ? ns : ns / NS_PER_MS * NS_PER_MS; }

static guint32 process_of(const Cluster *c, guint32 place, guint64 random, guint32 host) {
    if (place == PLACE_CLIENT) return 2 * host;
    if (place == PLACE_NAMENODE) return 2 * c->options.hosts + host % c->options.namenodes;
    /* The first replica is the client's own in half of the cases, as HDFS prefers. */
    if (place == PLACE_DATANODE && (random & 1) != 0) return 2 * host + 1;
    guint32 number = place - PLACE_DATANODE;
    return 2 * (guint32)((random >> 8) * (number + 1) % c->options.hosts) + 1;
}

static void put_path(OpState *state, guint32 folder, guint64 number) {
    char *at = state->path;
    memcpy(at, "/load/00/0000000000", 19);
    at[6] = (char)('0' + folder / 10);
    at[7] = (char)('0' + folder % 10);
    for (guint i = 18; i > 8; i--, number /= 10) at[i] = (char)('0' + number % 10);
    state->path_bytes = 19;
}

static void begin_op(Cluster *c, const Op *op, OpState *state) {
    guint64 random = next_random(&c->random);
    for (guint32 place = 0; place < op->template->places; place++) {
        state->processes[place] = process_of(c, place, random, op->host);
        __builtin_prefetch(&c->fleet.processes[state->processes[place]]);
    }
    state->stretch = c->stretch[random >> 40 & (STRETCHES - 1)];
    state->begin_ns = now_ns(c) - (gint64)(state->stretch * (double)op->template->duration_ns);
    put_path(state, op->host % 97, op->number * PATH_STEP % PATH_NUMBERS);
}

static Process *process_at(const Cluster *c, const OpState *state, guint32 place) {
    return &c->fleet.processes[state->processes[place]];
}

/* Threads that serve a DataNode's blocks, or send a client's, begin and end with them. */
static void find_threads(Cluster *c, const Op *op, const OpState *state) {
    const guint8 *places = &g_array_index(c->set->threads, guint8, op->template->threads_at);
    for (guint32 t = 0; t < op->template->n_threads; t++) {
        guint32 process = state->processes[places[t]];
        c->threads[t] = &c->new_threads[t];
        if (op->thread == NULL) {
            guint64 block = op->number * c->set->threaded + t;
            c->new_threads[t] = fleet_first_id(&c->fleet, process) + IDS_OF_OPEN + block * BLOCK_OF_IDS + 1;
        } else if (t == 0) {
            c->threads[t] = op->thread;
        } else if (places[t] == PLACE_NAMENODE) {
            guint32 handler = (guint32)(next_random(&c->random) % HANDLERS);
            c->threads[t] = &c->handlers[(process - 2 * c->options.hosts) * HANDLERS + handler];
        } else {
            c->new_threads[t] = 0;
        }
    }
}

static void draw_some(Cluster *c, const Op *op, const OpState *state, guint32 from, guint32 to) {
    const TemplateDraw *draws = &g_array_index(c->set->draws, TemplateDraw, op->template->draws_at);
    const guint8 *places = &g_array_index(c->set->threads, guint8, op->template->threads_at);
    for (guint32 k = from; k < to; k++) {
        guint32 t = draws[k].thread;
        c->places[draws[k].span] = c->options.random_ids ? next_random(&c->random) | 1
                                                         : next_place(process_at(c, state, places[t]), c->threads[t]);
    }
}

/* Thousands of processes do not fit the processor's cache: what they write to next is fetched for all of an
 * operation's at once, while its ids are drawn. */
static void draw_ids(Cluster *c, const Op *op, const OpState *state) {
    const guint32 n = op->template->count, places = op->template->places;
    if (!c->options.random_ids) find_threads(c, op, state);
    draw_some(c, op, state, 0, n / 2);
    for (guint32 place = 0; place < places; place++) {
        const Process *process = process_at(c, state, place);
        __builtin_prefetch(process->frame);
        __builtin_prefetch(process->local);
        __builtin_prefetch(process->local + 32);
    }
    draw_some(c, op, state, n / 2, n);
    for (guint32 place = 0; place < places; place++) {
        const Frame *frame = process_at(c, state, place)->frame;
        if (frame == NULL) continue;
        for (guint32 ahead = 0; ahead < (place == PLACE_CLIENT ? 512u : 128u); ahead += 64)
            __builtin_prefetch(frame->spans + frame->spans_bytes + ahead, 1);
        __builtin_prefetch(frame->strings + frame->strings_bytes, 1);
    }
}

/* Of the id of a job, of its trace, or of a task. */
static guint64 draw_place(Cluster *c, guint32 host, guint64 *thread) {
    if (c->options.random_ids) return next_random(&c->random) | 1;
    return next_place(&c->fleet.processes[2 * host], thread);
}

/* Did the last span of this shape have the same text there? Paths differ from operation to operation. */
static gboolean same_text(const Cluster *c, const ShapeLast *last, const Op *op, guint i, const TemplateValue *value) {
    const TemplateValue *before = &g_array_index(c->set->values, TemplateValue, last->values_at + i);
    return before->text == value->text && (value->kind == VALUE_FIXED || last->op == op->number + 1);
}

static void fill_values(Cluster *c, Process *process, const TemplateSpan *span, const Op *op, const OpState *state) {
    SpanTexts *texts = &c->texts;
    ShapeLast *last = &process->last[span->shape];
    const gint32 number = (gint32)(state->begin_ns / NS_PER_MS % 3);

    for (guint i = 0; i < span->n_values; i++) {
        const TemplateValue *value = &g_array_index(c->set->values, TemplateValue, span->values_at + i);
        FrameValue *out = &texts->values[i];
        *out = (FrameValue){.key = fleet_string(&c->fleet, process, value->key),
                            .is_number = value->kind == VALUE_DIGIT,
                            .number = number,
                            .before = last->number,
                            .text = value->text,
                            .length = value->length};

        if (out->is_number) continue;
        out->same = same_text(c, last, op, i, value);
        if (value->kind != VALUE_PATH) continue;
        memcpy(texts->paths[i], state->path, sizeof state->path);
        memcpy(texts->paths[i] + state->path_bytes, value->text, value->length);
        out->text = texts->paths[i];
        out->length += state->path_bytes;
    }

    *last = (ShapeLast){.op = op->number + 1, .values_at = span->values_at, .number = number};
}

static void fill_notes(Cluster *c, const TemplateSpan *span, const OpState *state) {
    for (guint i = 0; i < span->n_notes; i++) {
        const TemplateNote *note = &g_array_index(c->set->notes, TemplateNote, span->notes_at + i);
        gint64 time_ns = state->begin_ns + (gint64)(state->stretch * (double)note->time_ns);
        c->texts.notes[i] = (FrameNote){rounded(c, time_ns), note->text, note->length};
    }
}

/* A span that its process loses, alone; its sender says so. */
static gboolean lose(Cluster *c, Process *process, guint64 random) {
    if ((guint32)(random >> 20) >= c->single_spans) return FALSE;
    c->fleet.counts.withheld++;
    process->dropped++;
    return TRUE;
}

static void add_span(Cluster *c, Process *process, const FrameSpan *span) {
    frame_add_span(process->frame, span);
    if (process->frame->n_spans >= c->options.batch_spans)
        fleet_flush_one(&c->fleet, (guint32)(process - c->fleet.processes));
}

static guint16 *shape_slot(const Cluster *c, const Process *process, guint32 shape) {
    return process->local + c->set->strings->len + shape;
}

/* Its name: a string of the table or, in a pack, its own when it carries a number. */
static void name_span(Cluster *c, Process *process, const TemplateSpan *span, FrameSpan *out) {
    const TemplateString *name = &g_array_index(c->set->strings, TemplateString, span->name);
    if (name->numbered) {
        out->block = name;
        if (c->options.structs) out->name = fleet_add_string(&c->fleet, process, span->name, out->number);
    } else {
        out->shape = shape_slot(c, process, span->shape);
        out->name = fleet_string(&c->fleet, process, span->name);
    }
}

static void say_span(Cluster *c, const Op *op, const OpState *state, guint32 k) {
    const TemplateSpan *span = &g_array_index(c->set->spans, TemplateSpan, op->template->first + k);
    Process *process = &c->fleet.processes[state->processes[span->place]];
    guint64 random = next_random(&c->random), noise = random * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);

    c->fleet.counts.made++;
    if (lose(c, process, noise)) return;
    fleet_frame(&c->fleet, process);

    gint64 begin_ns = state->begin_ns + (gint64)(state->stretch * (double)span->begin_ns);
    gint64 duration_ns = (gint64)(state->stretch * (double)span->duration_ns);
    if (c->options.nanoseconds) {
        begin_ns += (gint64)(noise >> 44);
        duration_ns += (gint64)(noise >> 24 & 0xfffff);
    }

    FrameSpan out = {.trace = op->trace,
                     .place = c->places[k],
                     .parent = span->parent != NO_PARENT ? c->places[span->parent] : op->parent,
                     .begin_ns = rounded(c, begin_ns),
                     .duration_ns = rounded(c, duration_ns),
                     .number = FIRST_BLOCK + op->number,
                     .tracer = fleet_string(&c->fleet, process, span->tracer),
                     .milliseconds = !c->options.nanoseconds,
                     .n_values = span->n_values,
                     .n_notes = span->n_notes,
                     .values = c->texts.values,
                     .notes = c->texts.notes};

    name_span(c, process, span, &out);
    if (span->n_values > 0) fill_values(c, process, span, op, state);
    if (span->n_notes > 0) fill_notes(c, span, state);
    add_span(c, process, &out);
}

/* Returns the operation's begin. */
static gint64 say_op(Cluster *c, const Op *op) {
    OpState state;
    begin_op(c, op, &state);
    draw_ids(c, op, &state);
    for (guint32 k = op->first; k < op->end; k++) say_span(c, op, &state, k);
    fleet_made(&c->fleet);
    return state.begin_ns;
}

/* The span of a job or of a task, around what was said below it. */
static void say_frame_span(Cluster *c, const Job *job, gboolean root) {
    const Recipe *recipe = job->recipe;
    Process *process = &c->fleet.processes[2 * (root ? job->host : job->task_host)];
    gint64 begin_ns = root ? job->begin_ns : job->task_begin_ns;
    c->fleet.counts.made++;
    if (lose(c, process, next_random(&c->random))) return;
    fleet_frame(&c->fleet, process);
    FrameSpan out = {.trace = job->trace,
                     .place = root ? job->root : job->task,
                     .parent = root ? 0u : job->root,
                     .begin_ns = rounded(c, begin_ns),
                     .duration_ns = rounded(c, now_ns(c) - begin_ns),
                     .name = fleet_string(&c->fleet, process, root ? recipe->root : recipe->task),
                     .tracer = fleet_string(&c->fleet, process, c->set->app_tracer),
                     .milliseconds = !c->options.nanoseconds,
                     .shape = shape_slot(c, process, root ? recipe->root_shape : recipe->task_shape)};
    add_span(c, process, &out);
}

static double draw_spans(Cluster *c) {
    double unit = unit_of(next_random(&c->random)), within = unit_of(next_random(&c->random));
    if (unit < SINGLE_SHARE || c->options.captured_only) return 0;
    if (unit < SINGLE_SHARE + MIDDLE_SHARE) return MIDDLE_LEAST * pow(MIDDLE_MOST / MIDDLE_LEAST, within);
    return MIN(MIDDLE_MOST * pow(1 - within, -1 / POWER), (double)c->options.largest_spans);
}

static guint32 draw_template(Cluster *c) {
    guint64 random = next_random(&c->random);
    guint32 others = c->set->templates->len - c->set->captured;
    if (unit_of(random) >= METHODS_SHARE || c->options.captured_only) return (guint32)(random % c->set->captured);
    return c->set->captured + (guint32)(random % others);
}

static void begin_job(Cluster *c, Job *job) {
    double spans = draw_spans(c);
    *job = (Job){.host = (guint32)(next_random(&c->random) % c->options.hosts),
                 .ops_left = 1,
                 .per_turn = 1,
                 .begin_ns = now_ns(c)};
    job->trace = draw_place(c, job->host, &job->thread);
    c->fleet.counts.traces++;
    if (spans == 0) {
        job->template = draw_template(c);
        return;
    }
    job->recipe = &g_array_index(c->set->recipes, Recipe, next_random(&c->random) % c->set->recipes->len);
    job->ops_left = (guint64)MAX(spans / job->recipe->mean_spans + 0.5, 1);
    job->per_turn = (guint32)MAX(job->ops_left / TURNS_OF_JOB, 1);
    job->root = draw_place(c, job->host, &job->thread);
    job->has_tasks = job->ops_left > OPS_OF_TASK;
    job->task_host = job->host;
}

static void end_task(Cluster *c, Job *job) {
    if (job->task == 0) return;
    say_frame_span(c, job, FALSE);
    job->spans++;
    job->task = 0;
}

static void end_job(Cluster *c, Job *job) {
    end_task(c, job);
    if (job->recipe != NULL) say_frame_span(c, job, TRUE);
    c->fleet.counts.largest = MAX(c->fleet.counts.largest, job->spans + (job->recipe != NULL));
    fleet_made(&c->fleet);
}

static void begin_task(Cluster *c, Job *job) {
    job->task_ops = OPS_OF_TASK;
    job->op = 0;
    job->task_host = (guint32)(next_random(&c->random) % c->options.hosts);
    job->task_thread = 0;
    job->task = draw_place(c, job->task_host, &job->task_thread);
    job->task_begin_ns = now_ns(c);
}

static void run_op(Cluster *c, Job *job) {
    const Recipe *recipe = job->recipe;
    if (job->has_tasks && job->task == 0) begin_task(c, job);
    guint32 number = recipe != NULL ? recipe->ops[job->op++ % recipe->n_ops] : job->template;
    Op op = {.template = &g_array_index(c->set->templates, Template, number),
             .trace = job->trace,
             .parent = recipe == NULL   ? 0u
                       : job->task != 0 ? job->task
                                        : job->root,
             .host = job->has_tasks ? job->task_host : job->host,
             .thread = job->has_tasks ? &job->task_thread : &job->thread,
             .number = c->op++ * c->options.lanes + c->options.lane};
    op.end = op.template->count;
    gint64 begin_ns = say_op(c, &op);
    job->spans += op.end;
    job->begin_ns = MIN(job->begin_ns, begin_ns);
    job->task_begin_ns = MIN(job->task_begin_ns, begin_ns);
    if (job->task != 0 && --job->task_ops == 0) end_task(c, job);
}

static const Process *client_ahead(const Cluster *c, guint32 turns) {
    const Job *job = &c->jobs[(c->turn + turns) % c->options.jobs];
    return &c->fleet.processes[2 * (job->task != 0 ? job->task_host : job->host)];
}

/* As draw_ids() does, for the clients of the turns to come. */
static void fetch_ahead(const Cluster *c) {
    __builtin_prefetch(client_ahead(c, 6));
    const Process *process = client_ahead(c, 4);
    __builtin_prefetch(process->frame);
    __builtin_prefetch(process->local);
    const Frame *frame = client_ahead(c, 2)->frame;
    if (frame == NULL) return;
    for (guint32 at = 0; at < 512; at += 64) __builtin_prefetch(frame->spans + frame->spans_bytes + at, 1);
}

void cluster_step(Cluster *c) {
    Job *job = &c->jobs[c->turn];
    fetch_ahead(c);
    c->turn = (c->turn + 1) % c->options.jobs;
    if (job->ops_left == 0) begin_job(c, job);
    for (guint32 i = 0; i < job->per_turn && job->ops_left > 0; i++, job->ops_left--) run_op(c, job);
    if (job->ops_left == 0) end_job(c, job);
}

/* Halves of the same operation agree because all that is drawn comes from its number. */
static void say_halves(Cluster *c, guint64 n, gboolean second) {
    guint64 random = c->random;
    for (guint64 i = 0; i < n; i++) {
        c->random =
            c->options.seed ^ (i * c->options.lanes + c->options.lane + 1) * G_GUINT64_CONSTANT(0xd1342543de82ef95);
        guint64 trace = next_random(&c->random) | 1;
        guint32 number = c->set->captured + (guint32)(i % (c->set->templates->len - c->set->captured));
        Op op = {.template = &g_array_index(c->set->templates, Template, number),
                 .trace = trace,
                 .host = (guint32)(next_random(&c->random) % c->options.hosts),
                 .number = PATH_NUMBERS / 2 + i * c->options.lanes + c->options.lane};
        op.first = second ? op.template->count / 2 : 0;
        op.end = second ? op.template->count : op.template->count / 2;
        say_op(c, &op);
    }
    c->random = random;
}

void cluster_begin_open(Cluster *c, guint64 n) {
    c->fleet.counts.traces += n;
    say_halves(c, n, FALSE);
}

void cluster_complete_open(Cluster *c, guint64 n) { say_halves(c, n, TRUE); }

void cluster_flush(Cluster *c) { fleet_flush_all(&c->fleet); }

void cluster_finish(Cluster *c) {
    for (guint32 i = 0; i < c->options.jobs; i++) {
        if (c->jobs[i].ops_left > 0) end_job(c, &c->jobs[i]);
        c->jobs[i].ops_left = 0;
    }
    fleet_flush_all(&c->fleet);
    for (guint32 i = 0; i < c->fleet.n_later; i++) {
        c->fleet.window++;
        fleet_deliver_later(&c->fleet);
    }
}

Cluster *cluster_new(const ClusterOptions *options, GError **error) {
    g_autoptr(TemplateSet) set = template_set_load(options->model_path, error);
    if (set == NULL) return NULL;

    Cluster *c = g_new0(Cluster, 1);
    c->options = *options;
    c->set = g_steal_pointer(&set);
    c->random = options->seed * G_GUINT64_CONSTANT(0x2545f4914f6cdd1d) + options->lane + 1;
    fleet_init(&c->fleet, &c->options, c->set);

    c->jobs = g_new0(Job, options->jobs);
    c->places = g_new(guint64, c->set->longest);
    c->threads = g_new(guint64 *, c->set->threaded);
    c->new_threads = g_new(guint64, c->set->threaded);
    c->handlers = g_new0(guint64, (gsize)options->namenodes * HANDLERS);
    c->ns_per_span = 1e9 * options->lanes / options->spans_per_s;
    c->single_spans = (guint32)(options->withheld * 0.4 * 4294967295.0);

    for (guint i = 0; i < STRETCHES; i++) {
        /* Log-normal with sigma 0.5, by Box and Muller. */
        double radius = sqrt(-2 * log(1 - unit_of(next_random(&c->random))));
        c->stretch[i] = exp(0.5 * radius * cos(2 * G_PI * unit_of(next_random(&c->random))));
    }
    return c;
}

void cluster_free(Cluster *c) {
    if (c == NULL) return;
    fleet_clear(&c->fleet);
    template_set_free(c->set);
    g_free(c->jobs);
    g_free(c->places);
    g_free(c->threads);
    g_free(c->new_threads);
    g_free(c->handlers);
    g_free(c);
}

ClusterCounts cluster_counts(const Cluster *c) { return c->fleet.counts; }
guint32 cluster_functions(const Cluster *c) { return c->set->functions; }
void cluster_release(Cluster *c, Frame *frame) { frame_release(&c->fleet.pool, frame); }
guint32 cluster_processes(const Cluster *c) { return c->fleet.n; }
gboolean cluster_is_namenode(const Cluster *c, guint32 process) { return process >= 2 * c->options.hosts; }

ClusterSender cluster_sender(const Cluster *c, guint32 process) {
    const Process *p = &c->fleet.processes[process];
    return (ClusterSender){.id = p->sender, .sent = p->sent, .dropped = p->dropped, .batches = p->sequence};
}
