/* How many functions and hosts there are. */
#pragma once

#include "analyzer/archive/archive.h"

/* How many functions have statistics, and how many hosts they ran on. The first call reads the functions' statistics of
 * all time; later ones read nothing. */
typedef struct ArchiveKinds {
    guint functions, hosts;
} ArchiveKinds;
gboolean archive_kinds(Archive *archive, ArchiveKinds *kinds, GError **error);
