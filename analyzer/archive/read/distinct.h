/* How many functions and hosts there are. */
#pragma once

#include "analyzer/archive/archive.h"

/* How many functions have statistics, and how many hosts they ran on. The first call reads the functions' statistics of
 * all time; later ones read nothing. */
typedef struct ArchiveDistinct {
    guint functions, hosts;
} ArchiveDistinct;
gboolean archive_distinct(Archive *archive, ArchiveDistinct *distinct, GError **error);
