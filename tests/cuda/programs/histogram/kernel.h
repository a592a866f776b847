#pragma once
constexpr int kBins = 32;
float histogram(const unsigned char* pinned, int n, unsigned* bins);
