/* The audit log: who has logged in, was refused, asked what, and changed what. One line an event (audit_line.h), to a
 * file of its own (mode 0600), or without one to plumbd's log.
 *
 * Whoever tells an event only appends to a queue of AUDIT_QUEUE_BYTES; a thread writes it. When the disk does not keep
 * up, or is full, lines are left out and counted, and a line says how many: neither spans nor answers wait for it.
 *
 * Anybody who reaches a port can be refused as often as it likes. So of an address that has not logged in,
 * AUDIT_REFUSALS_A_MINUTE refusals have lines; then one line says how many there were more. Any thread. */
#pragma once

#include "receiver/secure/audit_line.h"

#define AUDIT_QUEUE_BYTES       (1024u * 1024)
#define AUDIT_REFUSALS_A_MINUTE 10u
/* Addresses with a count of their own in a minute; the others have one together. */
#define AUDIT_ADDRESSES 1024u

typedef struct Audit Audit;
/* path: "" for plumbd's log. IO: the file cannot be opened, or is none. */
Audit *audit_new(const char *path, AuditLevel level, GError **error);
/* Writes what is queued first. */
void audit_free(Audit *audit);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Audit, audit_free)

void audit_set_level(Audit *audit, AuditLevel level);
/* Opens the file anew before the next line, as somebody has moved it away. When that fails, the old one goes on. */
void audit_reopen(Audit *audit);
/* audit: NULL for none. */
void audit_note(Audit *audit, const AuditEvent *event);

typedef struct AuditFigures {
    guint64 written, lost; /* lines */
} AuditFigures;
AuditFigures audit_figures(Audit *audit);
