#pragma once
float simulate(float4*& bodies, int n, int steps);
