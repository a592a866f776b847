#pragma once
float price_all(const double* strikes, double* prices, int n);
