/* The program `plumb`: finds the command that the command line names, and runs it. */
#pragma once

/* The whole program: returns its exit code. */
int cli_main(int argc, char **argv);
