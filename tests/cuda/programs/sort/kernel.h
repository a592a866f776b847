#pragma once
float sort(const unsigned* keys, unsigned* sorted, int* places, int n);
