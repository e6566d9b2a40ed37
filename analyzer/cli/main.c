#include "analyzer/cli/cli.h"
#include "analyzer/cli/leash.h"

int main(int argc, char **argv) {
    if (!leash_put_on()) return 1; /* nobody reads why */
    return cli_main(argc, argv);
}
