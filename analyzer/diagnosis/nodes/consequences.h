/* Which spells follow from others.
 *
 * - Where a server's processor is short, all that it does is slow.
 * - Where a disk or a link is slow by far, the little that is computed beside it is slower, too: calls are few, and
 *   caches cold. That is no short processor.
 * - A transfer from disk to socket is slow for the disk, or for the socket, when that is seen elsewhere.
 * - Calls wait in a NameNode's queue for whatever holds up those before them.
 * - A server that does not answer holds up those who send to it, and clients.
 * - Clients' ends of connections, and all nodes at once, wait for the server that is slow.
 * - All nodes at once send slowly to a client whose own network is slower by as much. */
#pragma once

#include "analyzer/diagnosis/nodes/judgement.h"

/* All nodes send slowly to a reader whose network is slow: what it waited for is critical time of theirs. */
gboolean consequences_of_reader(const Spell *reader, const Spell *spell, guint32 n_nodes);
/* Sets part_of to the class of the spell that all begins with, which on the same node costs what they cost, too.
 * n_nodes: of the cluster. */
void consequences_find(GArray *spells, guint32 n_nodes);
