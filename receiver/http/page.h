/* The files of the web page. They are a GLib resource inside the program, gzipped when it was built: every browser
 * unpacks them. A plumbd that was built without the page (PLUMB_UI=OFF) has none. */
#pragma once

#include <glib.h>

typedef struct PageFile {
    const char *type; /* static */
    gboolean lasting; /* its name changes with its contents: it may be kept for ever */
    GBytes *gzipped;
} PageFile;

/* path: as asked, "/" being the page itself. FALSE: there is no such file. */
gboolean page_find(const char *path, PageFile *file);
void page_file_clear(PageFile *file);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(PageFile, page_file_clear)
