#include <climits>
#include <cstdio>

#include "undefined.hpp"

int in_cpp(const Tree* tree, int n);

int main() {
  const Tree two = {2};
  std::printf("%d %d %d\n", undefined(&two, 5), undefined(nullptr, INT_MAX), in_cpp(nullptr, INT_MAX));  // 21 0 0
}
