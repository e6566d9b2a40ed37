/* Whom slow tasks waited for in HDFS: one process and resource of it for each task, and the same summed over tasks. */
#pragma once

#include "analyzer/query/nodes/standing.h"
#include "analyzer/query/shared/question.h"
#include "analyzer/query/spark/normals.h"
#include "analyzer/query/spark/tasks/task_hdfs.h"

typedef struct Suspect {
    guint32 tracer; /* dictionary id of the process; 0: unknown */
    guint32 host;
    guint32 name; /* of the function that took most of it */
    Role role;
    HdfsResource resource; /* network and socket are one: HDFS_NETWORK */
    gint64 ns;             /* waited for this resource of this process */
    gint64 process_ns;     /* waited for the process */
} Suspect;

/* The process that the task waited for most, and what of it, counting these resources only (1 << HdfsResource; network
 * and socket are one). FALSE: it waited for none. */
#define ALL_RESOURCES ((1u << HDFS_RESOURCE_COUNT) - 1)
gboolean suspect_find(Archive *archive, const TaskHdfs *hdfs, guint32 resources, Suspect *suspect);
json_t *suspect_json(Archive *archive, const Suspect *suspect);
/* Everybody who was waited for, one for each process and resource, the greatest first. A new array of Suspect. */
GArray *suspects_of_shares(Archive *archive, const GArray *shares);
/* Adds to a suspect's JSON what a trace shows of it: "calls" of its function there, "path" to the longest of them, what
 * is normal for the function in that hour (normals.h), and whether the calls were slower than that. */
gboolean suspect_add_evidence(const Asked *asked, const TraceView *view, const Suspect *suspect, json_t *object,
                              GError **error);

/* Adds "pace", "compared_with", "times_normal", and "more_ns": how much less it would have been at the usual pace. */
void suspect_add_pace(json_t *object, const Suspect *suspect, const PaceFound *found);

/* Adds "spell" to a suspect's JSON when its host was slower than its own prediction then, in what was waited for. */
gboolean suspect_add_standing(const Suspect *suspect, Standing *standing, json_t *object, GError **error);

/* ---- summed over tasks: by host, role and resource ---- */
typedef struct Suspects Suspects;
Suspects *suspects_new(void);
void suspects_free(Suspects *suspects);
/* explains_ms: of the task's excess; begin_ms: when the task began. */
void suspects_add(Suspects *suspects, const Suspect *suspect, double explains_ms, gint64 begin_ms);
/* Those that cost most first. standing: NULL: how the hosts were is not told. NULL with *error. */
json_t *suspects_json(Archive *archive, const Suspects *suspects, Standing *standing, GError **error);
