#pragma once
float reduce(const float* host, int n, int block);
