/* The files without a name that this process has open, to damage them from outside. */
#pragma once

/* A descriptor of its own for the one in this folder; the test fails when there is none. */
int unnamed_file_in(const char *folder);
