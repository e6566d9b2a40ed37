#include "analyzer/query/query.h"
