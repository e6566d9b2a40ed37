#include "common/model/mask.h"

#include <string.h>

#include "common/base/error.h"
#include "common/base/limits.h"
#include "common/model/spark_fields.h"

#define HASH_DIGITS 16u
#define HASH_BYTES  (1 + HASH_DIGITS)
/* Hashes that are remembered, until there are so many: names of directories and files come again and again. */
#define REMEMBERED       65536u
#define REMEMBERED_BYTES 256u /* names of folders and files; longer ones are hashed each time */
/* Values of these are paths, relative ones, too: of those every component is hashed. */
static const char *const path_keys[] = {"path", "src", "dst", "filename", NULL};
/* Addresses of DataNodes look like paths ("/10.0.0.7:9866"), and questions are about them. */
#define NO_PATH "datanode"

typedef enum { ABOUT_PATH, ABOUT_ANNOTATION, ABOUT_NOTE, ABOUT_NAME, ABOUT_RECORD } MaskAbout;
typedef enum { MASK_KEEP, MASK_HASH, MASK_DROP } MaskHow;

typedef struct MaskRule {
    MaskAbout about;
    MaskHow how;
    guint keep;
    char *pattern; /* NULL: all */
} MaskRule;

struct Mask {
    GArray *rules;        /* MaskRule */
    const MaskRule *path; /* NULL: none */
    char *key;
    gsize key_bytes;
};

struct Masker {
    const Mask *mask;
    GHashTable *hashes; /* text -> its hash */
    GString *out;       /* what is being made */
    /* Of a batch, by string: */
    GArray *names; /* guint32: where its masked form is, and one more; 0: not looked at yet */
    GArray *keys;  /* MaskKey: what is done with its values */
};

typedef struct MaskKey {
    gboolean known;
    gboolean path; /* its values are paths */
    const MaskRule *rule;
} MaskKey;

/* ---- rules ---- */

static gboolean parse_what(const char *text, MaskRule *rule) {
    static const struct {
        const char *prefix;
        MaskAbout about;
    } forms[] = {{"annotation:", ABOUT_ANNOTATION}, {"name:", ABOUT_NAME}, {"record:", ABOUT_RECORD}};
    rule->about = strcmp(text, "note") == 0 ? ABOUT_NOTE : ABOUT_PATH;
    if (strcmp(text, "path") == 0 || strcmp(text, "note") == 0) return TRUE;
    for (guint i = 0; i < G_N_ELEMENTS(forms); i++) {
        if (!g_str_has_prefix(text, forms[i].prefix)) continue;
        rule->about = forms[i].about;
        rule->pattern = g_strdup(text + strlen(forms[i].prefix));
        return rule->pattern[0] != '\0';
    }
    return FALSE;
}

static gboolean parse_how(const char *text, MaskRule *rule) {
    char *end;
    rule->how = strcmp(text, "drop") == 0 ? MASK_DROP : MASK_HASH;
    if (strcmp(text, "hash") == 0) return TRUE;
    if (rule->how == MASK_DROP) return rule->about != ABOUT_PATH;
    if (!g_str_has_prefix(text, "keep ") || !g_ascii_isdigit(text[5])) return FALSE;
    const guint64 keep = g_ascii_strtoull(text + 5, &end, 10);
    rule->how = MASK_KEEP;
    rule->keep = (guint)MIN(keep, MASK_COMPONENTS_MAX);
    return *end == '\0' && keep <= MASK_COMPONENTS_MAX && rule->about != ABOUT_NAME;
}

/* The '=' is the last one: names may have some. */
static gboolean parse_rule(const char *text, MaskRule *rule) {
    const char *equals = strrchr(text, '=');
    if (equals == NULL) return FALSE;
    g_autofree char *what = g_strstrip(g_strndup(text, (gsize)(equals - text)));
    g_autofree char *how = g_strstrip(g_strdup(equals + 1));
    return parse_what(what, rule) && parse_how(how, rule);
}

static void rule_clear(void *data) {
    MaskRule *rule = data;
    g_free(rule->pattern);
}

Mask *mask_new(const char *const *rules, const char *key, gsize key_bytes, GError **error) {
    g_autoptr(Mask) mask = g_new0(Mask, 1);
    mask->rules = g_array_new(FALSE, TRUE, sizeof(MaskRule));
    g_array_set_clear_func(mask->rules, rule_clear);
    for (; rules != NULL && *rules != NULL; rules++) {
        g_array_set_size(mask->rules, mask->rules->len + 1);
        if (parse_rule(*rules, &g_array_index(mask->rules, MaskRule, mask->rules->len - 1))) continue;
        fail(
            error, PLUMB_ERROR_CONFIG,
            "mask.rules: '%s': write path, annotation:KEY, note, name:NAME or record:FIELD, then = and hash, drop (not "
            "of path), or keep N (not of a name; N is %u at most), with ; between",
            *rules, MASK_COMPONENTS_MAX);
        return NULL;
    }
    for (guint i = mask->rules->len; i-- > 0;) {
        const MaskRule *rule = &g_array_index(mask->rules, MaskRule, i);
        if (rule->about == ABOUT_PATH) mask->path = rule;
    }

    if (key != NULL && key_bytes < MASK_KEY_MIN_BYTES) {
        fail(error, PLUMB_ERROR_CONFIG, "mask.key: the key has %zu bytes: write %u or more", key_bytes,
             MASK_KEY_MIN_BYTES);
        return NULL;
    }
    mask->key = g_memdup2(key, key_bytes);
    mask->key_bytes = key_bytes;
    return g_steal_pointer(&mask);
}

void mask_free(Mask *mask) {
    if (!mask) return;
    g_array_unref(mask->rules);
    if (mask->key != NULL) explicit_bzero(mask->key, mask->key_bytes);
    g_free(mask->key);
    g_free(mask);
}

/* The rule about something of this name; NULL: none. */
static const MaskRule *rule_of(const Mask *mask, MaskAbout about, const char *name) {
    for (guint i = 0; i < mask->rules->len; i++) {
        const MaskRule *rule = &g_array_index(mask->rules, MaskRule, i);
        if (rule->about == about && (rule->pattern == NULL || g_pattern_match_simple(rule->pattern, name))) return rule;
    }
    return NULL;
}

/* ---- hashes ---- */

Masker *masker_new(const Mask *mask) {
    Masker *masker = g_new0(Masker, 1);
    masker->mask = mask;
    masker->hashes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    masker->out = g_string_new(NULL);
    masker->names = g_array_new(FALSE, TRUE, sizeof(guint32));
    masker->keys = g_array_new(FALSE, TRUE, sizeof(MaskKey));
    return masker;
}

void masker_free(Masker *masker) {
    if (!masker) return;
    g_hash_table_unref(masker->hashes);
    g_string_free(masker->out, TRUE);
    g_array_unref(masker->names);
    g_array_unref(masker->keys);
    g_free(masker);
}

static gboolean is_hash(const char *text, gsize length) {
    if (length != HASH_BYTES || text[0] != '~') return FALSE;
    for (gsize i = 1; i < length; i++)
        if (!g_ascii_isdigit(text[i]) && (text[i] < 'a' || text[i] > 'f')) return FALSE;
    return TRUE;
}

static void put_hash(Masker *masker, const char *text, gsize length) {
    if (is_hash(text, length)) {
        g_string_append_len(masker->out, text, (gssize)length);
        return;
    }
    const gboolean remembered = length <= REMEMBERED_BYTES;
    g_autofree char *whole = remembered ? g_strndup(text, length) : NULL;
    const char *known = remembered ? g_hash_table_lookup(masker->hashes, whole) : NULL;
    if (known != NULL) {
        g_string_append(masker->out, known);
        return;
    }
    const Mask *mask = masker->mask;
    g_autofree char *digits = g_compute_hmac_for_data(G_CHECKSUM_SHA256, (const guchar *)mask->key, mask->key_bytes,
                                                      (const guchar *)text, length);
    g_autofree char *made = g_strdup_printf("~%.*s", (int)HASH_DIGITS, digits);
    g_string_append(masker->out, made);
    if (!remembered) return;
    if (g_hash_table_size(masker->hashes) >= REMEMBERED) g_hash_table_remove_all(masker->hashes);
    g_hash_table_insert(masker->hashes, g_steal_pointer(&whole), g_steal_pointer(&made));
}

/* ---- paths ---- */

static void put_path(Masker *masker, const char *path, gsize length, guint keep) {
    const char *end = path + length;
    guint n = 0;
    while (path < end) {
        if (*path == '/') {
            g_string_append_c(masker->out, *path++);
            continue;
        }
        const char *slash = memchr(path, '/', (gsize)(end - path));
        const char *next = slash == NULL || n >= MASK_COMPONENTS_MAX ? end : slash;
        const gsize size = (gsize)(next - path);
        if (n++ < keep || (size == 1 && *path == '*'))
            g_string_append_len(masker->out, path, (gssize)size);
        else
            put_hash(masker, path, size);
        path = next;
    }
}

/* "hdfs://nn:8020": what stands before the path; 0: nothing. */
static gsize scheme_bytes(const char *text, gsize length) {
    gsize n = 0;
    while (n < length && (g_ascii_isalnum(text[n]) || strchr("+-.", text[n]) != NULL)) n++;
    if (n == 0 || !g_ascii_isalpha(text[0]) || n >= length || text[n] != ':') return 0;
    if (length - n < 3 || text[n + 1] != '/') return n + 1 < length && text[n + 1] == '/' ? n + 1 : 0;
    if (text[n + 2] != '/') return n + 1; /* "file:/tmp" */
    const char *path = memchr(text + n + 3, '/', length - n - 3);
    return path != NULL ? (gsize)(path - text) : length;
}

static gboolean is_path(const char *text, gsize length) {
    return length > 0 && (text[0] == '/' || scheme_bytes(text, length) > 0);
}

static gboolean ends_path(char c) { return g_ascii_isspace(c) || strchr("\"'`,;()[]{}<>|", c) != NULL; }

/* One word without blanks: "hdfs://nn/a/b", "src=/a/b", "jar:file:/a/b", "nn:8020:/a/b", "Client/10.0.0.1". */
static void put_word(Masker *masker, const char *word, gsize length, guint keep) {
    const char *end = word + length;
    while (word < end) {
        const gsize left = (gsize)(end - word);
        const gsize scheme = scheme_bytes(word, left);
        if (scheme > 0 || *word == '/') {
            g_string_append_len(masker->out, word, (gssize)scheme);
            put_path(masker, word + scheme, left - scheme, keep);
            return;
        }
        const char *next = word;
        while (next < end && *next != '=' && *next != ':') next++;
        const gsize before = next < end ? (gsize)(next + 1 - word) : left;
        g_string_append_len(masker->out, word, (gssize)before);
        word += before;
    }
}

static void put_words(Masker *masker, const char *text, gsize length, guint keep) {
    const char *end = text + length;
    while (text < end) {
        const char *next = text;
        while (next < end && !ends_path(*next)) next++;
        if (next > text) put_word(masker, text, (gsize)(next - text), keep);
        if (next < end) g_string_append_c(masker->out, *next++);
        text = next;
    }
}

/* ---- one text ---- */

typedef struct MaskText {
    const char *at;
    gsize length;
    gboolean path; /* it is one, whatever it looks like */
} MaskText;

static void put_masked(Masker *masker, const MaskRule *rule, MaskText text) {
    const gboolean about_path = rule->about == ABOUT_PATH;
    const guint keep = rule->how == MASK_KEEP ? rule->keep : 0;
    if ((about_path || rule->how == MASK_KEEP) && is_path(text.at, text.length)) {
        const gsize scheme = scheme_bytes(text.at, text.length);
        g_string_append_len(masker->out, text.at, (gssize)scheme);
        put_path(masker, text.at + scheme, text.length - scheme, keep);
    } else if (about_path && text.path) {
        put_path(masker, text.at, text.length, 0);
    } else if (about_path) {
        put_words(masker, text.at, text.length, keep);
    } else {
        put_hash(masker, text.at, text.length);
    }
}

/* FALSE: it stays as it is, or (*drop) goes. Else the masked form is in masker->out. */
static gboolean make(Masker *masker, const MaskRule *rule, MaskText text, gsize most_bytes, gboolean *drop) {
    *drop = rule != NULL && rule->how == MASK_DROP;
    if (rule == NULL || *drop || text.length == 0) return FALSE;
    if (rule->about == ABOUT_PATH && !text.path && memchr(text.at, '/', text.length) == NULL) return FALSE;

    g_string_truncate(masker->out, 0);
    put_masked(masker, rule, text);
    if (masker->out->len > most_bytes) {
        g_string_truncate(masker->out, 0);
        put_hash(masker, text.at, text.length);
    }
    return masker->out->len != text.length || memcmp(masker->out->str, text.at, text.length) != 0;
}

static MaskKey key_of(const Mask *mask, const char *name) {
    const MaskRule *rule = rule_of(mask, ABOUT_ANNOTATION, name);
    MaskKey key = {TRUE, g_strv_contains(path_keys, name), rule};
    if (rule == NULL && strcmp(name, NO_PATH) != 0) key.rule = mask->path;
    return key;
}

char *masker_value(Masker *masker, const char *key, const char *value) {
    gboolean drop;
    const MaskKey found = key_of(masker->mask, key);
    const MaskText text = {value, strlen(value), found.path};
    const gboolean made = make(masker, found.rule, text, LIMIT_VALUE_BYTES, &drop);
    return drop ? NULL : g_strdup(made ? masker->out->str : value);
}

char *masker_text(Masker *masker, const char *text) {
    gboolean drop;
    const MaskText whole = {text, strlen(text), FALSE};
    return g_strdup(make(masker, masker->mask->path, whole, LIMIT_VALUE_BYTES, &drop) ? masker->out->str : text);
}

/* ---- spans ---- */

/* In place. FALSE: it is to go. */
static gboolean mask_string(Masker *masker, SpanBatch *batch, MaskKey key, BatchString *text) {
    gboolean drop;
    if (make(masker, key.rule, (MaskText){text->data, text->length, key.path}, LIMIT_VALUE_BYTES, &drop))
        *text = batch_copy(batch, masker->out->str, masker->out->len);
    return !drop;
}

static guint32 mask_name(Masker *masker, SpanBatch *batch, guint32 index) {
    const BatchString text = batch_string(batch, index);
    g_autofree char *name = g_strndup(text.data, text.length);
    const MaskRule *rule = rule_of(masker->mask, ABOUT_NAME, name);
    gboolean drop;
    const MaskText whole = {text.data, text.length, FALSE};
    const gboolean made = make(masker, rule != NULL ? rule : masker->mask->path, whole, LIMIT_NAME_BYTES, &drop);
    if (!made && !drop) return index;
    const BatchString masked =
        drop ? batch_copy(batch, MASK_NAME, strlen(MASK_NAME)) : batch_copy(batch, masker->out->str, masker->out->len);
    g_array_append_val(batch->strings, masked);
    return batch->strings->len - 1;
}

/* Names are few, and stand in many spans. What has no string is refused later. */
static void mask_names(Masker *masker, SpanBatch *batch) {
    const guint n = batch->strings->len;
    g_array_set_size(masker->names, 0);
    g_array_set_size(masker->names, n);
    g_array_set_size(masker->keys, 0);
    g_array_set_size(masker->keys, n);
    for (guint i = 0; i < batch->spans->len; i++) {
        BatchSpan *span = &g_array_index(batch->spans, BatchSpan, i);
        if (span->name >= n) continue;
        guint32 *place = &g_array_index(masker->names, guint32, span->name);
        if (*place == 0) *place = mask_name(masker, batch, span->name) + 1;
        span->name = *place - 1;
    }
}

static MaskKey key_at(Masker *masker, const SpanBatch *batch, guint32 index) {
    if (index >= masker->keys->len) return (MaskKey){TRUE, FALSE, masker->mask->path};
    MaskKey *key = &g_array_index(masker->keys, MaskKey, index);
    if (key->known) return *key;
    const BatchString text = batch_string(batch, index);
    g_autofree char *name = g_strndup(text.data, text.length);
    *key = key_of(masker->mask, name);
    return *key;
}

static void mask_annotations(Masker *masker, SpanBatch *batch, BatchSpan *span) {
    guint32 kept = 0;
    if ((guint64)span->annotations_at + span->n_annotations > batch->annotations->len) return;
    BatchAnnotation *all = &g_array_index(batch->annotations, BatchAnnotation, span->annotations_at);
    for (guint32 k = 0; k < span->n_annotations; k++) {
        BatchAnnotation annotation = all[k];
        if (mask_string(masker, batch, key_at(masker, batch, annotation.key), &annotation.value))
            all[kept++] = annotation;
    }
    span->n_annotations = kept;
}

static void mask_notes(Masker *masker, SpanBatch *batch, BatchSpan *span) {
    const MaskRule *rule = rule_of(masker->mask, ABOUT_NOTE, "");
    const MaskKey key = {TRUE, FALSE, rule != NULL ? rule : masker->mask->path};
    guint32 kept = 0;
    if ((guint64)span->notes_at + span->n_notes > batch->notes->len) return;
    BatchNote *all = &g_array_index(batch->notes, BatchNote, span->notes_at);
    for (guint32 k = 0; k < span->n_notes; k++) {
        BatchNote note = all[k];
        if (mask_string(masker, batch, key, &note.message)) all[kept++] = note;
    }
    span->n_notes = kept;
}

static void note_used(GArray *used, guint32 index) {
    if (index < used->len) g_array_index(used, guint32, index) = 1;
}

/* Names in clear that nothing refers to any more, and whatever else a sender puts into the table, go with it. */
static void drop_unused(Masker *masker, SpanBatch *batch) {
    GArray *used = masker->names; /* of no more use for that */
    g_array_set_size(used, 0);
    g_array_set_size(used, batch->strings->len);
    for (guint i = 0; i < batch->spans->len; i++) {
        const BatchSpan *span = batch_span(batch, i);
        note_used(used, span->name);
        note_used(used, span->tracer);
        if ((guint64)span->annotations_at + span->n_annotations > batch->annotations->len) continue;
        for (guint32 k = 0; k < span->n_annotations; k++)
            note_used(used, g_array_index(batch->annotations, BatchAnnotation, span->annotations_at + k).key);
    }
    for (guint i = 0; i < used->len; i++)
        if (!g_array_index(used, guint32, i)) g_array_index(batch->strings, BatchString, i) = (BatchString){"", 0};
}

void masker_batch(Masker *masker, SpanBatch *batch) {
    mask_names(masker, batch);
    for (guint i = 0; i < batch->spans->len; i++) {
        BatchSpan *span = &g_array_index(batch->spans, BatchSpan, i);
        mask_annotations(masker, batch, span);
        mask_notes(masker, batch, span);
    }
    drop_unused(masker, batch);
}

/* ---- records ---- */

/* As every list of a record lies in memory. */
typedef struct MaskList {
    const void *items;
    guint32 n;
} MaskList;

static void mask_field(Masker *masker, SparkRecords *records, const SparkField *field, const char *name, void *record) {
    const char **text = (const char **)(void *)((guint8 *)record + field->offset);
    if (*text == NULL) return;
    const gboolean fixed = field->key || field->needed;
    const MaskRule *rule = fixed ? NULL : rule_of(masker->mask, ABOUT_RECORD, name);
    gboolean drop;
    const MaskText whole = {*text, strlen(*text), FALSE};
    if (make(masker, rule != NULL ? rule : masker->mask->path, whole, LIMIT_VALUE_BYTES, &drop))
        *text = spark_text(records, masker->out->str, masker->out->len);
    if (drop) *text = NULL;
}

static void mask_record(Masker *masker, SparkRecords *records, const SparkForm *form, void *record);

/* Lists may be shared with nobody: they lie in the batch's own memory. */
static void mask_list(Masker *masker, SparkRecords *records, const SparkField *field, void *record) {
    const MaskList *list = (const MaskList *)(const void *)((guint8 *)record + field->offset);
    guint8 *items = (guint8 *)list->items;
    for (guint32 i = 0; i < list->n; i++)
        mask_record(masker, records, field->items, items + (gsize)i * field->items->size_bytes);
}

static void mask_record(Masker *masker, SparkRecords *records, const SparkForm *form, void *record) {
    /* A property is called as its key says. */
    const SparkPair *pair = form == spark_pair_form() ? record : NULL;
    for (guint i = 0; i < form->n_fields; i++) {
        const SparkField *field = &form->fields[i];
        if (pair != NULL && i == 0) continue;
        if (field->type == FIELD_TEXT)
            mask_field(masker, records, field, pair != NULL && pair->key != NULL ? pair->key : field->name, record);
        else if (field->type == FIELD_LIST)
            mask_list(masker, records, field, record);
    }
}

void masker_records(Masker *masker, SparkRecords *records) {
    for (guint kind = 0; kind < SPARK_KIND_COUNT; kind++) {
        const SparkForm *form = spark_form((SparkKind)kind);
        GArray *all = records->of[kind];
        for (guint i = 0; i < all->len; i++)
            mask_record(masker, records, form, all->data + (gsize)i * form->size_bytes);
    }
}
