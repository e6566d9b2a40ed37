#include "common/model/span.h"
