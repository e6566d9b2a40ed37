#include "common/model/batch.h"
