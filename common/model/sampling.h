/* The policy that says which root calls senders trace, as plumbd hands it out: "Workload#*=always; hflush=never; 0.01".
 *
 * Entries have ';' between; the first that fits decides. An entry is a function name ('*' at its end: any rest), '='
 * and a choice; the last may be a choice alone, for all other functions. Choices: always, never, a fraction from 0 to
 * 1, N/s (so many a second of each function), every N (the first of N calls). Blanks around them and empty entries do
 * not count. */
#pragma once

#include <glib.h>

/* FALSE when the text is no such policy; the error (CONFIG) names the entry. "" is one: it asks for nothing. Not longer
 * than LIMIT_POLICY_BYTES. */
gboolean sampling_check(const char *policy, GError **error);
