/* A hash for keys that are two numbers in the halves of 64 bits. g_int64_hash() of GLib before 2.79 takes the lower
 * half alone: of pairs that differ in the upper one it makes one long chain. */
#pragma once

#include <glib.h>

/* For g_hash_table_new(); key: guint64. Equal keys are told by g_int64_equal(). */
guint pair_hash(gconstpointer key);
