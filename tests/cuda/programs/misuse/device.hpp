#pragma once
#include <cuda_runtime_api.h>

const void* kernel();  // of an int* and an int
const void* symbol();  // of 16 bytes
const textureReference* texture_reference();
const surfaceReference* surface_reference();
