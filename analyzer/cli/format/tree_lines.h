/* The lines in front of the rows of a tree, from the rows' depths in pre-order:
 *
 *     root
 *     ├─ first
 *     │  └─ its child
 *     └─ second
 *
 * Levels past TREE_LINES_LEVELS are counted instead of drawn ("[+12] "), or a chain of 100,000 calls would need
 * gigabytes of blanks. */
#pragma once

#include "analyzer/cli/format/style.h"

#define TREE_LINES_LEVELS 40

typedef struct TreeLines TreeLines;

/* Depths are taken as at most one more than the row before has: whatever comes from outside, the result is a tree. */
TreeLines *tree_lines_new(const Style *style, const guint32 *depths, gsize n);
void tree_lines_free(TreeLines *lines);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TreeLines, tree_lines_free)

/* Goes on to the next row; must be called for every row, in order. A new string, "" for a root. */
char *tree_lines_next(TreeLines *lines);
/* For further lines that belong to the row last asked for. A new string. */
char *tree_lines_below(const TreeLines *lines);
