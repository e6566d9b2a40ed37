#include "analyzer/archive/archive.h"
