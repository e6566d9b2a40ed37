/* From the outside form of a span to the inside one: SpanBatch -> SpanRec.
 *
 * Every string of a batch's table is looked up once, when the first span that uses it is packed: names are normalised
 * (model/naming.h), names, tracer ids and annotation keys become dictionary ids. Batches of one process repeat their
 * strings, and those of many processes share most: the packer remembers what it looked up (PACK_REMEMBERED), so that
 * the dictionary, its lock and the rules are asked for new strings only.
 *
 * What a normalised name lost is kept as the record's first annotation: key = the template, value = the number. So
 * that the way back (pack_name_annotation) is never in doubt, a span whose name was not normalised but whose own first
 * annotation has an empty key or one that looks like a template gets an empty first annotation (key 0, no bytes). */
#pragma once

#include "common/model/batch.h"
#include "common/model/fragment.h"
#include "common/model/naming.h"
#include "common/store/dict.h"

/* Begin times from 1933 to 2116 and durations of up to 36 years either way are taken: then no sum or difference of two
 * times of a trace leaves 64 bits. */
#define PACK_BEGIN_MIN_NS    (-(G_GINT64_CONSTANT(1) << 60))
#define PACK_BEGIN_MAX_NS    (G_GINT64_CONSTANT(1) << 62)
#define PACK_DURATION_MAX_NS (G_GINT64_CONSTANT(1) << 60)

typedef enum {
    PACK_OK,
    PACK_ZERO_ID,
    PACK_BAD_INDEX, /* of a string or slice outside the batch */
    PACK_TIME_OUT_OF_RANGE,
    PACK_NAME_TOO_LONG,        /* name, tracer id or annotation key: LIMIT_NAME_BYTES */
    PACK_VALUE_TOO_LONG,       /* annotation value or note: LIMIT_VALUE_BYTES */
    PACK_TOO_MANY_PARENTS,     /* LIMIT_SPAN_PARENTS */
    PACK_TOO_MANY_ANNOTATIONS, /* or notes: LIMIT_SPAN_ANNOTATIONS */
    PACK_DICTIONARY_FULL,
    PACK_PEER_NAMES,   /* its sender may add no more processes to the dictionary, see PackLimit */
    PACK_STORE_FAILED, /* the dictionary could not be written: no fault of the span; try again, see packer_take_error()
                        */
    PACK_RESULT_COUNT
} PackResult;

/* For counters and messages: "zero id", "name too long", ...; static. */
const char *pack_result_text(PackResult result);

/* Strings a packer remembers, 32 bytes each: tracer ids of 3,000 hosts with several processes each, and all names. */
#define PACK_REMEMBERED 32768u

/* One thread at a time. Rules and dictionary must outlive the packer. */
typedef struct Packer Packer;
Packer *packer_new(const NamingRules *rules, Dict *dict);
void packer_free(Packer *packer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Packer, packer_free)

/* What a sender may still add to the dictionary. A function name that it may not add is stored with its numbers folded
 * (naming_fold()), or else as PACK_OTHER, with the name as it was sent in the first annotation, of key PACK_NAME_KEY;
 * an annotation key is folded in the same way, and not kept. A process that it may not add has its spans refused. */
#define PACK_OTHER    "(other)"
#define PACK_NAME_KEY "(name)"
typedef enum {
    PACK_NEW_NAME,   /* a function name or an annotation key */
    PACK_NEW_FOLDED, /* the same, folded */
    PACK_NEW_TEXT,   /* a process */
    PACK_NEW_FIXED,  /* PACK_OTHER, PACK_NAME_KEY, and the templates of rules */
    PACK_NEW_KINDS
} PackNew;
typedef struct PackLimit {
    gboolean (*may_add)(void *arg, PackNew what, gsize length);
    void *arg;
} PackLimit;
/* Of the batches from now on; it must outlive them. NULL: no limit but the dictionary's. */
void packer_set_limit(Packer *packer, const PackLimit *limit);

/* Forgets the strings of the batch before. To be called before the first span of a batch, again when the batch's string
 * table changed, and before a second attempt after PACK_STORE_FAILED. */
void packer_begin_batch(Packer *packer, const SpanBatch *batch);

/* Appends span i as one SpanRec, or leaves 'out' as it was and says why. Parents of id (0,0) refer to nothing and are
 * left out. */
PackResult packer_span(Packer *packer, const SpanBatch *batch, guint i, GByteArray *out); /* for tests */

/* The same in the tight form (model/fragment.h), all spans of a batch that are of one trace at a time, so that whoever
 * keeps traces apart looks for each but once per batch. packer_group() sorts the batch's spans (after
 * packer_begin_batch()) and returns how many traces there are; packer_fragment() appends the fragment of one, without
 * those spans that are refused, which *refused counts by reason, or nothing when all are. FALSE: PACK_STORE_FAILED. */
guint packer_group(Packer *packer, const SpanBatch *batch);
guint64 packer_trace(const Packer *packer, guint group);
gboolean packer_fragment(Packer *packer, const SpanBatch *batch, guint group, GByteArray *out,
                         guint32 refused[PACK_RESULT_COUNT]);

/* Of which processes the spans of the batch's fragments are: PackRun, as they came one behind the other. */
typedef struct PackRun {
    guint32 tracer;
    guint32 spans;
} PackRun;
const GArray *packer_runs(const Packer *packer);

/* What the dictionary said at the last PACK_STORE_FAILED; NULL when there was none since the last call. */
GError *packer_take_error(Packer *packer);

typedef enum {
    NAME_AS_SENT,    /* the record's annotations are the sender's */
    NAME_ESCAPED,    /* the first annotation is none of the sender's; the name is */
    NAME_NORMALISED, /* the first annotation is none of the sender's, but template and number of the name */
} PackedName;

/* What a record's first annotation is for; *first is set unless NAME_AS_SENT. */
PackedName pack_name_annotation(Dict *dict, const SpanRec *span, SpanAnnotation *first);
