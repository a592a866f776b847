/* See cutil_math.h. */
#pragma once

#include "cutil_math.h"
