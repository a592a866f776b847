#include "undefined.hpp"

int in_cpp(const Tree* tree, int n) {
  return undefined(tree, n);
}
