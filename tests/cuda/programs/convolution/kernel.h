#pragma once
constexpr int kLargest = 2;
float convolve(const float* in, float* out, int n, const float* filter_weights, int radius, int* beyond);
