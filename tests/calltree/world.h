/* A made-up dictionary for tests: names, tracers and keys with known ids. Two worlds number the same texts differently.
 */
#pragma once

#include "analyzer/calltree/lookup.h"

#define WORLD_NAMES    34u
#define WORLD_TRACERS  10u
#define WORLD_STREAM   4u /* of world_key() */
#define WORLD_COMPUTED 5u

typedef struct World {
    Lookup lookup;
    guint32 first;        /* id of the first text */
    guint32 stride;       /* between the ids of neighbouring texts; coprime with the number of texts */
    guint32 first_tracer; /* number of what world_tracer(world, 0) says: 4 more are another host; 0 at first */
} World;

/* number: any; worlds of different numbers differ in ids. */
void world_init(World *world, guint32 number);

const char *world_name_text(guint i);
guint32 world_name(const World *world, guint i);
guint32 world_name_called(const World *world, const char *text); /* it must have it */
guint32 world_tracer(const World *world, guint i);
guint32 world_bytes_key(const World *world);
guint32 world_key(const World *world, guint i); /* other annotation keys; i < 4, or WORLD_STREAM, WORLD_COMPUTED */

Role world_role(guint tracer);    /* of the i-th tracer */
guint32 world_host(guint tracer); /* dictionary id, the same in all worlds */
