/* The configuration of an analysis: a GLib key file with what to show and how, for `plumb forest --config`
 * (conf/analysis.conf is a sample). Options of the command line win over it. */
#pragma once

#include <jansson.h>

#include "analyzer/cli/format/style.h"

typedef struct Analysis {
    char *level;    /* "forest" or "tree" */
    char **exclude; /* functions to leave out of trees */
    char *roles;    /* "client,datanode"; "" for all */
    gboolean progress;
    Colour colours[ROLE_COUNT];
    GHashTable *role_of; /* function -> Role as pointer: functions that the file gives to a role */
} Analysis;

/* What "default" in a list of functions to exclude stands for: they were outdated or double in the
 * study that introduced compressed call trees. NULL-terminated. */
extern const char *const analysis_default_excludes[];

/* NULL with CONFIG (the message names the nearest known key) or IO. */
Analysis *analysis_load(const char *path, GError **error);
void analysis_free(Analysis *analysis);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Analysis, analysis_free)

/* Sets the role of every node of a forest whose function the file gives to a role. */
void analysis_apply_roles(const Analysis *analysis, json_t *forest);
