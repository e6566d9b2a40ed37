/* The page that asks a browser's reader for a token. It is no part of the page's own files (page.h), which nobody gets
 * who may not read. */
#pragma once

extern const char login_page[], login_script[];
