#include "analyzer/calltree/tree.h"
