/* How many functions and hosts there are. */
#pragma once

#include "analyzer/archive/archive.h"

/* How many functions have statistics, and how many hosts they ran on. The first call reads the functions' statistics of
 * all time; later ones read nothing. */
typedef struct ArchiveDistinct {
    guint functions, hosts;
} ArchiveDistinct;
gboolean archive_distinct(Archive *archive, ArchiveDistinct *distinct, GError **error);
/* Appends the hosts (guint32, dictionary ids), in no useful order. */
gboolean archive_distinct_hosts(Archive *archive, GArray *hosts, GError **error);
/* Has a host (a dictionary id, not 0) statistics? Known at once when it has had some since the archive was opened, or
 * after a call of the above; else read as far as the first of them. */
gboolean archive_has_host(Archive *archive, guint32 host, gboolean *has, GError **error);
