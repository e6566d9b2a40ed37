/* The program plumb-bridge but for its main(). */
#pragma once

/* Returns the exit code: 0 done, 1 something could not be read or delivered, 2 wrong command line. */
int bridge_main(int argc, char **argv);
