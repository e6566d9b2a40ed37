/* Kinds of operations on HDFS, as plans, results and options name them. */
#pragma once

#include <glib.h>

/* In this order in results: add at the end only. */
typedef enum {
    LOAD_READ,   /* opens a file, reads from an offset on, closes it */
    LOAD_PREAD,  /* the same by a read at a position */
    LOAD_WRITE,  /* makes a file */
    LOAD_APPEND, /* opens a file again, writes at its end */
    LOAD_OPEN,   /* opens and closes */
    LOAD_STAT,
    LOAD_LIST, /* the folder that the file is in */
    LOAD_MKDIR,
    LOAD_RENAME,
    LOAD_DELETE,
    LOAD_KINDS
} LoadKind;

/* "read". */
const char *load_kind_name(LoadKind kind);
/* LOAD_KINDS: there is none of this name. */
LoadKind load_kind_find(const char *name, gsize length);

/* Weights of the kinds; of one that is not named 0. */
typedef struct LoadMix {
    guint weight[LOAD_KINDS];
} LoadMix;

/* "read=70,write=20". Each weight is 0 to 1,000,000, one at least not 0. Errors are CONFIG. */
gboolean load_mix_parse(const char *text, LoadMix *mix, GError **error);
/* The same form, without kinds of weight 0. A new string. */
char *load_mix_format(const LoadMix *mix);
