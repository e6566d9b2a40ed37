/* Bytes of a file or of standard input, decompressed when they are gzip or zstd (told by their first bytes). */
#pragma once

#include "common/base/bytes.h"

typedef struct Input Input;

/* "-" is standard input. */
Input *input_open(const char *path, GError **error);
void input_close(Input *input);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Input, input_close)

typedef enum {
    INPUT_DATA,   /* *piece is set, valid until the next call */
    INPUT_IDLE,   /* a pipe has nothing now: use what you have, then ask again, which waits */
    INPUT_END,    /* all read; a plain file may be asked again after it grew */
    INPUT_FAILED, /* *error is set: IO, or INPUT for compressed data that is damaged or ends early. All pieces that came
                   * before are good */
} InputState;
InputState input_read(Input *input, Bytes *piece, GError **error);

int input_fd(const Input *input);
gboolean input_compressed(const Input *input);
/* Bytes read so far, as they lie in the file. */
guint64 input_position(const Input *input);
/* Plain files only: goes on at the file's begin. */
gboolean input_rewind(Input *input, GError **error);
/* How much of the file was read, 0 to 1; -1 when it has no known size. */
double input_fraction(const Input *input);
