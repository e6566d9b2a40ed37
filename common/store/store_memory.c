#include "common/store/store.h"
