#include "common/model/role.h"
