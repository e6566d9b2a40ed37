/* What a fuzz target is to its main program: libFuzzer's, or replay.c. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Any bytes are fine; what must not be, aborts. Always 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
