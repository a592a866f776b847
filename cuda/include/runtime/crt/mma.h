/* See mma.h. */
#pragma once

#include "mma.h"
