/* See cutil_inline.h. */
#pragma once

#include "cutil_inline.h"
