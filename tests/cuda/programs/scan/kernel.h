#pragma once
float scan(int* host, int n);
