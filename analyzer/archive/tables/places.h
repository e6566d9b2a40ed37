/* Where rows of statistics lie, the same in each bucket. A caller that knows which rows it wants reads only those. */
#pragma once

#include <glib.h>

typedef struct StatsPlace {
    guint32 cell;   /* 0: the row of all hosts together; else stats_cell() of the hosts */
    guint32 object; /* function or pattern */
    guint32 role;   /* of a function; 0 for patterns */
} StatsPlace;
/* Puts them in order, each once; returns how many are left. */
guint stats_places_tidy(StatsPlace *places, guint n);
