#pragma once
float multiply(const float* a, const float* b, float* c, int n, int tile);
