// The CUDA source of calls.64.ptx beside it, made by clang 14 with the options of cuda/compiler/clang_options.txt
// without -gline-tables-only: functions that are called through pointers, virtual ones, and functions that call
// themselves. As C++ it is what calls_test.cpp compares with.
#ifdef __CUDA__
#define DEVICE __attribute__((device, noinline))
#else
#define DEVICE __attribute__((noinline))
#endif

namespace calls {

typedef int (*Operation)(int, int);

DEVICE int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

DEVICE int odd(unsigned n);
DEVICE int even(unsigned n) {
  return n == 0 ? 1 : odd(n - 1);
}
DEVICE int odd(unsigned n) {
  return n == 0 ? 0 : even(n - 1) + (n == 33);
}

// Each activation has variables of its own, to which its callee has a pointer.
DEVICE long long sum(const int* above, int n, double x) {
  int mine[4];
  mine[n & 3] = n;
  mine[(n + 1) & 3] = above != nullptr ? *above : 7;
  const long long rest = n <= 0 ? static_cast<long long>(x) : sum(mine + (n & 3), n - 1, x * 1.5);
  return rest + mine[n & 3] + mine[(n + 1) & 3] + static_cast<long long>(x);
}

struct Six {
  int a[6];
};
DEVICE Six mix(Six p, int n) {
  p.a[n % 6] += n;
  if (n > 0) {
    const Six q = mix(p, n - 1);
    for (int i = 0; i < 6; i++) p.a[i] += q.a[5 - i];
  }
  return p;
}

struct Expression {
  DEVICE virtual int value(int x) const = 0;
  DEVICE virtual ~Expression() {}
};
struct Constant : Expression {
  int is;
  DEVICE explicit Constant(int is) : is(is) {}
  DEVICE int value(int) const override { return is; }
};
struct Variable : Expression {
  DEVICE int value(int x) const override { return x; }
};
struct Sum : Expression {
  const Expression *a, *b;
  DEVICE Sum(const Expression* a, const Expression* b) : a(a), b(b) {}
  DEVICE int value(int x) const override { return a->value(x) + b->value(x + 1); }
};
struct Product : Expression {
  const Expression *a, *b;
  DEVICE Product(const Expression* a, const Expression* b) : a(a), b(b) {}
  DEVICE int value(int x) const override { return a->value(x) * b->value(x); }
};

DEVICE int add(int a, int b) {
  return a + b;
}
DEVICE int multiply(int a, int b) {
  return a * b;
}
DEVICE int count_down(int a, int b);
#ifdef __CUDA__
__attribute__((device))
#endif
Operation table[3] = {add, multiply, count_down};
DEVICE int count_down(int a, int b) {
  return b <= 0 ? a : table[2](a - 1, b - 1);
}

// A circle within another one.
DEVICE int walk(int n) {
  if (n <= 0) return 1;
  const int here = fibonacci(n & 3);
  return walk(n - 1) + here + table[n % 3](n, 2);
}

DEVICE void all(int t, int* out) {
  out[0] = fibonacci(t % 9);
  out[1] = even(static_cast<unsigned>(t));
  out[2] = static_cast<int>(sum(nullptr, t % 6, t + .5));
  Six p;
  for (int i = 0; i < 6; i++) p.a[i] = i * t;
  p = mix(p, t % 4);
  out[3] = p.a[0];
  out[4] = p.a[5];
  const Constant three(3);
  const Variable x;
  const Sum a(&three, &x);
  const Product b(&a, &x);
  const Sum c(&b, &a);
  const Expression* const expressions[5] = {&three, &x, &a, &b, &c};
  out[5] = expressions[t % 5]->value(t);
  out[6] = table[t % 3](t, 5);
  out[7] = walk(t % 7);
  out[8] = t % 3 == 0 ? fibonacci(t % 5) : fibonacci(t % 4) + 1;
}

}  // namespace calls

#ifdef __CUDA__
extern "C" __global__ void calls_all(int* out) {
  calls::all(static_cast<int>(threadIdx.x), out + 9 * threadIdx.x);
}
// Deeper than any stack, but for threads that do not go.
extern "C" __global__ void too_deep(int* out, int n) {
  out[threadIdx.x] = calls::fibonacci(threadIdx.x == 3 ? n : 1);
}
extern "C" __global__ void through(int* out, unsigned long long pointer) {
  out[threadIdx.x] = reinterpret_cast<calls::Operation>(pointer)(static_cast<int>(threadIdx.x), 2);
}
#endif
