/* Load of hosts that the application's own tasks did not make.
 *
 * What its tasks used of a host is in the event log: processor time, bytes. What a unit of that loads a host by is told
 * by the tasks themselves: the slope of a host's load on what all tasks there used meanwhile (robust.h). The load less
 * that is somebody else's. Unlike the edges of eq. 3.4 this needs no time without tasks before and after one. */
#pragma once

#include "analyzer/diagnosis/tasks.h"

/* use: of each row what its task used of the resource while it ran, in any unit; NAN: not known, and taken for nothing.
 * A new array, of each row the mean over its run; NAN where the load is not known. The feature is a RESOURCE. */
double *foreign_load(const TaskTable *table, guint feature, const double *use);
