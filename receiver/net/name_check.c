#include "receiver/net/name_check.h"

#include <string.h>

#include "common/store/dict.h"

/* Of each name in a reply, so that what to do fits into it, too. */
#define REPLY_NAME_BYTES 54u

typedef struct Known {
    const char *owner; /* NULL: it is not judged */
    gboolean told;
} Known;

struct NameCheck {
    NameOwners *owners;
    Dict *dict;
    GHashTable *known; /* tracer id -> Known */
    guint generation;  /* of the owners that are in it */
    /* the last foreign one */
    guint32 foreign_tracer;
    const char *foreign_owner;
};

NameCheck *name_check_new(NameOwners *owners, Dict *dict) {
    NameCheck *check = g_new0(NameCheck, 1);
    check->owners = owners;
    check->dict = dict;
    check->known = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    check->generation = name_owners_generation(owners);
    return check;
}

void name_check_free(NameCheck *check) {
    if (!check) return;
    g_hash_table_unref(check->known);
    g_free(check);
}

static Known *learn(NameCheck *check, guint32 tracer, const SpanSource *source) {
    if (g_hash_table_size(check->known) >= NAME_CHECK_REMEMBERED) g_hash_table_remove_all(check->known);
    Known *known = g_new0(Known, 1);
    known->owner = name_owners_claim(check->owners, dict_text(check->dict, tracer, NULL), source);
    g_hash_table_insert(check->known, GUINT_TO_POINTER(tracer), known);
    return known;
}

static void note_foreign(NameCheck *check, guint32 tracer, Known *known, const SpanSource *source) {
    check->foreign_tracer = tracer;
    check->foreign_owner = known->owner;
    if (known->told) return;
    known->told = TRUE;
    name_owners_tell(check->owners, dict_text(check->dict, tracer, NULL), source);
}

gboolean name_check_is_foreign(NameCheck *check, const GArray *runs, const SpanSource *source) {
    if (name_owners_mode(check->owners) == NAMES_OFF) return FALSE;
    const guint generation = name_owners_generation(check->owners);
    if (G_UNLIKELY(generation != check->generation)) g_hash_table_remove_all(check->known);
    check->generation = generation;

    const char *principal = span_source_principal(source);
    gboolean foreign = FALSE;
    for (guint i = 0; i < runs->len; i++) {
        const guint32 tracer = g_array_index(runs, PackRun, i).tracer;
        Known *known = g_hash_table_lookup(check->known, GUINT_TO_POINTER(tracer));
        if (G_UNLIKELY(known == NULL)) known = learn(check, tracer, source);
        if (G_LIKELY(known->owner == NULL || strcmp(known->owner, principal) == 0)) continue;
        note_foreign(check, tracer, known, source);
        foreign = TRUE;
    }
    return foreign;
}

/* Whole characters of it. */
static char *cut(const char *text) {
    gsize length = strlen(text);
    if (length <= REPLY_NAME_BYTES) return g_strdup(text);
    for (length = REPLY_NAME_BYTES; length > 0 && ((guchar)text[length] & 0xC0) == 0x80;) length--;
    return g_strdup_printf("%.*s...", (int)length, text);
}

gboolean name_check_refuses(const NameCheck *check, const SpanSource *source, char **why) {
    if (name_owners_mode(check->owners) != NAMES_STRICT) return FALSE;
    g_autofree char *name = name_owners_name(dict_text(check->dict, check->foreign_tracer, NULL));
    g_autofree char *shown = cut(name), *owner = cut(check->foreign_owner),
                    *sender = cut(span_source_principal(source));
    *why = g_strdup_printf("%s is the name of %s, not of %s: let one alone send it (access.write), or set access.names",
                           shown, owner, sender);
    return TRUE;
}
