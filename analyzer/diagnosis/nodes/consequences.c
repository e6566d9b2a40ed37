#include "analyzer/diagnosis/nodes/consequences.h"

#include <math.h>

#include "common/base/allowance.h"

/* Of ln slowdown of the rest, what a processor that is short has at least. */
#define PROCESSOR_SHARE 0.5

typedef struct Causes {
    GArray *spells;
    guint32 n_nodes;
    gint *of; /* of each spell: index of what it follows from; -1: nothing */
} Causes;

static Spell *spell_at(const Causes *causes, guint i) { return &g_array_index(causes->spells, Spell, i); }

static gboolean overlap(const Spell *a, const Spell *b) { return a->first <= b->last && b->first <= a->last; }

static double strength(const Spell *spell) { return log(MAX(spell->slowdown, 1)); }

static gboolean is_of_server(const Causes *causes, const Spell *spell) {
    return spell->node < causes->n_nodes && !work_class_is_clients(spell->class) && !spell->busy;
}

/* Of a server. */
static gboolean is_network(WorkClass class) {
    return class == WORK_NETWORK || class == WORK_SENDING || class == WORK_DELIVERY;
}

/* On the same node. */
static gboolean explains_class(const Spell *cause, const Spell *spell) {
    const WorkClass class = cause->class, of = spell->class;
    if (class == WORK_SILENT) return TRUE;
    if (of == WORK_LOCK || of == WORK_EDIT_LOG || of == WORK_JOURNAL) return FALSE;
    if (class == WORK_STANDSTILL) return cause->lost_critical_ns >= spell->lost_critical_ns;
    if (of == WORK_STANDSTILL)
        return (is_network(class) || class == WORK_DISK_WRITE || class == WORK_PROCESSOR) &&
               cause->lost_critical_ns > spell->lost_critical_ns;
    if (class == WORK_PROCESSOR) return strength(cause) >= PROCESSOR_SHARE * strength(spell);
    if (of == WORK_PROCESSOR) return strength(spell) < PROCESSOR_SHARE * strength(cause);
    if (of == WORK_TRANSFER) return class == WORK_DISK_READ || is_network(class);
    if (of == WORK_SENDING || of == WORK_DELIVERY) return class == WORK_NETWORK;
    if (of == WORK_QUEUE) return class == WORK_LOCK || class == WORK_EDIT_LOG;
    return FALSE;
}

gboolean consequences_of_reader(const Spell *reader, const Spell *spell, guint32 n_nodes) {
    return spell->node >= n_nodes && reader->node < n_nodes && reader->class == WORK_CLIENT_NETWORK &&
           (spell->class == WORK_TRANSFER || spell->class == WORK_SENDING || spell->class == WORK_DELIVERY) &&
           overlap(reader, spell) && strength(reader) >= strength(spell);
}

/* A sync is for many calls, and lies below one of them: there the JournalNode lost more than the NameNode itself. One
 * that is slow beside two others costs nothing, and explains nothing. */
static gboolean is_of_journal(const Spell *cause, const Spell *spell) {
    return cause->class == WORK_JOURNAL && spell->class == WORK_EDIT_LOG &&
           cause->lost_critical_ns > spell->lost_beside_ns;
}

static gboolean explains(const Causes *causes, guint cause_at, guint spell_index) {
    const Spell *cause = spell_at(causes, cause_at), *spell = spell_at(causes, spell_index);
    if (cause_at == spell_index || !overlap(cause, spell)) return FALSE;
    if (consequences_of_reader(cause, spell, causes->n_nodes)) return TRUE;
    if (!is_of_server(causes, cause)) return FALSE;
    if (is_of_journal(cause, spell)) return TRUE;
    /* What follows from something is no cause of the rest: that is what it follows from itself. */
    if (cause->class == WORK_PROCESSOR && causes->of[cause_at] >= 0) return FALSE;
    if (spell->class == WORK_SILENT) return FALSE;
    if (spell->class == WORK_CLIENT_NETWORK || spell->node >= causes->n_nodes) return TRUE;
    /* Who sends to it stands still with a packet; who waits for it computes nothing. */
    if (cause->class == WORK_SILENT && cause->node != spell->node)
        return spell->class == WORK_NETWORK || spell->class == WORK_STANDSTILL || work_class_is_clients(spell->class);
    return cause->node == spell->node && cause->class != spell->class && !work_class_is_clients(spell->class) &&
           explains_class(cause, spell);
}

static gboolean follows_from(const Causes *causes, guint i, guint cause) {
    gint at = (gint)i;
    while (at >= 0 && (guint)at != cause) at = causes->of[at];
    return at >= 0;
}

/* Of JournalNodes it is the one that was waited for, else the strongest. */
static gboolean is_stronger(const Spell *cause, const Spell *other) {
    if (cause->class == WORK_JOURNAL && other->class == WORK_JOURNAL)
        return cause->lost_critical_ns > other->lost_critical_ns;
    return strength(cause) > strength(other);
}

/* The strongest of what explains it, but not what follows from it: of three, each may explain the next. */
static void find_cause(Causes *causes, guint i) {
    for (guint k = 0; k < causes->spells->len && allowance_goes_on(); k++) {
        if (!explains(causes, k, i) || follows_from(causes, k, i)) continue;
        if (causes->of[i] < 0 || is_stronger(spell_at(causes, k), spell_at(causes, (guint)causes->of[i])))
            causes->of[i] = (gint)k;
    }
}

static void count_at_root(const Causes *causes, guint i, const Spell *part) {
    guint root = (guint)causes->of[i];
    while (causes->of[root] >= 0) root = (guint)causes->of[root];
    Spell *cause = spell_at(causes, root);
    spell_at(causes, i)->part_of = cause->class;
    const gboolean pays = cause->node == part->node || cause->class == WORK_JOURNAL ||
                          consequences_of_reader(cause, part, causes->n_nodes);
    if (!pays) return;
    /* What follows from it shows the same fault, perhaps by more calls, so earlier. */
    if (part->begin_ns < cause->begin_ns && cause->begin_ns - part->begin_ns <= CLASS_WINDOW_MAX_NS) {
        cause->begin_ns = part->begin_ns;
        cause->first = MIN(cause->first, part->first);
    }
    cause->lost_ns += part->lost_ns;
    cause->lost_critical_ns += part->lost_critical_ns;
}

/* Processors come first: those that are not short themselves explain nothing. */
void consequences_find(GArray *spells, guint32 n_nodes) {
    g_autofree gint *of = g_new(gint, MAX(spells->len, 1));
    Causes causes = {spells, n_nodes, of};
    for (guint i = 0; i < spells->len; i++) of[i] = -1;

    for (guint pass = 0; pass < 2; pass++) {
        for (guint i = 0; i < spells->len; i++) {
            const gboolean processor =
                is_of_server(&causes, spell_at(&causes, i)) && spell_at(&causes, i)->class == WORK_PROCESSOR;
            if (processor == (pass == 0)) find_cause(&causes, i);
        }
    }

    /* A part costs a root what it cost by itself: it is a root of nothing. */
    for (guint i = 0; i < spells->len; i++) {
        const Spell part = *spell_at(&causes, i);
        if (of[i] >= 0) count_at_root(&causes, i, &part);
    }
}
