/* Of NVIDIA's code samples, from release 5 on: all of what needs no GPU (docs/cuda.md). */
#ifndef COMMON_HELPER_FUNCTIONS_H_
#define COMMON_HELPER_FUNCTIONS_H_

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "exception.h"
#include "helper_image.h"
#include "helper_string.h"
#include "helper_timer.h"

#endif
