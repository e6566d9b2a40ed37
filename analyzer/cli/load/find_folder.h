/* The folder of a search for the greatest rate: "step-001.plan" and "step-001.result", and so on. A result's head has
 * what the search was told, so the report is made of the results alone, as many as there are. */
#pragma once

#include "analyzer/load/results/find_max.h"

typedef struct FindFolder {
    char *path, *limit_text;
    LoadLimits limits;
    FindSettings settings;
    FindStep steps[FIND_STEPS_MOST];
    guint n_steps;
    json_t *document;
    const char *last_end; /* why the last run ended */
} FindFolder;

/* None of a search yet. Errors: CONFIG, of the limits. */
FindFolder *find_folder_new(const char *path, const char *limit_text, const FindSettings *settings, GError **error);
/* With all results that are in it. Errors: INPUT, IO, NOT_FOUND. */
FindFolder *find_folder_open(const char *path, GError **error);
void find_folder_free(FindFolder *folder);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FindFolder, find_folder_free)

/* Of a step, from 1 on; ending: "plan" or "result". A new string. */
char *find_folder_file(const FindFolder *folder, guint step, const char *ending);
/* Lines for the head of the next step's plan. A new string. */
char *find_folder_head(const FindFolder *folder, const FindStep *step);
/* Takes the result of the next step in. A run that was interrupted or killed says nothing of its rate: the steps stay
 * as they are. *said: what came of it, one line; NULL: not asked. Errors: as of results. */
gboolean find_folder_take(FindFolder *folder, char **said, GError **error);
/* The document, whole. Borrowed. */
const json_t *find_folder_report(FindFolder *folder);
