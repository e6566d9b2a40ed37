#include "spark-bridge/bridge_cli.h"

int main(int argc, char **argv) { return bridge_main(argc, argv); }
