#include "common/store/dict.h"
