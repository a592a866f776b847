#pragma once
float process(float* host, int n, bool overlap, int* calls);
