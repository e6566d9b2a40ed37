/* How far a forwarding came: which traces were sent. A file of JSON lines: what was sent is appended; when half of the
 * lines are of no use any more, the file is replaced by one without them.
 *
 * Traces are stored when they are complete, so one may come after others that began later: a time alone says nothing.
 * The position is a time before which nothing is looked for any more, and the traces that were sent of those that began
 * since. */
#pragma once

#include <glib.h>

typedef struct Position Position;

/* What the file says, or, when there is none, nothing sent and since_ns. A line that a crash cut short is left out.
 * path NULL: it is kept nowhere. Nobody else opens it meanwhile: PATH.lock is locked. Errors: IO, INPUT (it is none, or
 * of another address), BUSY (another process has it). */
Position *position_open(const char *path, const char *url, gint64 since_ns, GError **error);
void position_free(Position *position);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Position, position_free)

gint64 position_since_ns(const Position *position);
gboolean position_was_sent(const Position *position, const char *trace);
/* Has a trace that was sent more spans than that? TRUE once for each trace. */
gboolean position_grew(Position *position, const char *trace, gint64 spans);
void position_add(Position *position, const char *trace, gint64 begin_ns, gint64 spans);
/* Nothing before since_ns is looked for any more: forgets what was sent of it. */
void position_advance(Position *position, gint64 since_ns);
/* What changed since the last time is durable then. Errors: IO, NO_SPACE, LIMIT (the file would be too large). */
gboolean position_save(Position *position, GError **error);
