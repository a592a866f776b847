// What arguments.cpp needs of a device.
#include "device.hpp"

__constant__ int table[4];
texture<int, 1, cudaReadModeElementType> linear;
surface<void, cudaSurfaceType2D> flat;

__global__ void read(int* p, int index) {
  *p = tex1Dfetch(linear, index) + table[index] + surf2Dread<int>(flat, 0, 0);
}

const void* kernel() {
  return reinterpret_cast<const void*>(read);
}
const void* symbol() {
  return table;
}
const textureReference* texture_reference() {
  return &linear;
}
const surfaceReference* surface_reference() {
  return &flat;
}
