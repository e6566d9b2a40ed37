#include "common/model/naming.h"
