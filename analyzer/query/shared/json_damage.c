#include "analyzer/query/shared/json_damage.h"

#include <string.h>

#include "analyzer/query/shared/question.h"
#include "common/store/store_damage.h"

typedef struct Listing {
    json_t *list;
    guint families;
} Listing;

static void add_damage(void *arg, const StoreDamage *damage) {
    static const char *const states[] = {[DAMAGE_NEW] = "new", [DAMAGE_MENDED] = "mended", [DAMAGE_STAYS] = "stays"};
    const Listing *listing = arg;
    if ((listing->families & 1u << damage->family) == 0) return;
    json_array_append_new(
        listing->list, json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:o}", "file", damage->file, "family",
                                 store_family_name(damage->family), "holds", store_holds(damage->family), "state",
                                 states[damage->state], "lost_bytes", (json_int_t)damage->lost_bytes, "since_time_ns",
                                 (json_int_t)damage->noted_ns, "why", json_text(damage->why, strlen(damage->why))));
}

json_t *json_damages(Archive *archive, guint families) {
    json_t *list = json_array();
    Listing listing = {list, families};
    store_damages(archive_store(archive), add_damage, &listing);
    if (json_array_size(list) > 0) return list;
    json_decref(list);
    return NULL;
}
