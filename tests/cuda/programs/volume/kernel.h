#pragma once
float brighten(int* out, const int* in, int w, int h, int d);
