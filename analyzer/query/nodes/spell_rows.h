/* A spell in which a host was slow, as JSON. */
#pragma once

#include "analyzer/query/nodes/examples.h"

/* Does any of it lie in the period that was asked about? */
gboolean spell_fits(const Cluster *cluster, const Spell *spell);
/* Is it a suspicion: neither explained by the host's own load nor by another spell? */
static inline gboolean spell_suspects(const Spell *spell) { return !spell->busy && spell->part_of == WORK_NONE; }

/* The fields that both questions have. */
json_t *spell_json(const Cluster *cluster, const NodesReport *report, const Spell *spell);
/* Adds "link", when it is the network and only one of the host's links is slow. */
gboolean spell_add_link(const Cluster *cluster, const NodesReport *report, const Spell *spell, json_t *object,
                        GError **error);
/* Adds "example" and "link" and, of transfers, what they waited for: then "layer" is disk or network. */
gboolean spell_add_example(const Cluster *cluster, const NodesReport *report, const Spell *spell, json_t *object,
                           GError **error);
