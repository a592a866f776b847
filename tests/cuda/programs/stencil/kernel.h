#pragma once
float heat(float* plate, int w, int h, int steps);
