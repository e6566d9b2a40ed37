/* Threads that have little to do but somebody waits for it. */
#pragma once

/* The calling thread asks for short turns: a processor that is busy with long work then takes it on as soon as it wakes
 * up, without giving it a larger share. Needs no privilege; a kernel before 6.12 knows no such wish, and nothing
 * changes. */
void thread_is_urgent(void);
