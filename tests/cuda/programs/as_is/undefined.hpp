// What old host code relies on, although C++ leaves it open.
struct Tree {
  int leaves;
  int count() const { return this == nullptr ? 0 : leaves; }
};

// As a generator of random numbers that multiplies: the sum wraps.
static int grows(int n) {
  return n + 1 > n;
}

static int undefined(const Tree* tree, int n) {
  return 10 * tree->count() + grows(n);
}
