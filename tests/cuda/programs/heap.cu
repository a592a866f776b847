// The device heap: lists and trees built in kernels, scratch memory of each thread, blocks that other threads of later
// kernels free, exhaustion, objects by new and delete. What the kernels find is judged here; addresses are printed as
// distances, so that every machine must print equal text.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#define CHECK(call)                                                      \
  do {                                                                   \
    const cudaError_t error = (call);                                    \
    if (error != cudaSuccess) {                                          \
      std::printf("FAILED: %s: %s\n", #call, cudaGetErrorString(error)); \
      std::exit(1);                                                      \
    }                                                                    \
  } while (0)

struct Node {
  unsigned value;
  Node* next;
};

// Each thread a list of its own, of as many nodes as its number says.
__global__ void build_lists(Node** heads) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  Node* head = nullptr;
  for (unsigned k = 0; k < i % 7; ++k) {
    Node* const node = static_cast<Node*>(malloc(sizeof(Node)));
    node->value = i * 100 + k;
    node->next = head;
    head = node;
  }
  heads[i] = head;
}

// The lists of other threads: sums them, and gives every second node back.
__global__ void thin_lists(Node** heads, unsigned* sums, unsigned n) {
  const unsigned i = n - 1 - (blockIdx.x * blockDim.x + threadIdx.x);
  unsigned sum = 0;
  for (Node* node = heads[i]; node != nullptr; node = node->next) {
    sum += node->value;
    if (Node* const dropped = node->next) {
      sum += dropped->value;
      node->next = dropped->next;
      free(dropped);
    }
  }
  sums[i] = sum;
}

__global__ void free_lists(Node** heads) {
  const unsigned i = (blockIdx.x * blockDim.x + threadIdx.x) ^ 1u;
  while (Node* const node = heads[i]) {
    heads[i] = node->next;
    free(node);
  }
}

// A search tree of all threads' keys, that they hang their nodes into.
struct Leaf {
  unsigned key;
  Leaf* child[2];
  __device__ explicit Leaf(unsigned key) : key(key), child{nullptr, nullptr} {}
};

__global__ void plant(Leaf** root, const unsigned* keys) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  Leaf* const leaf = new Leaf(keys[i]);
  __threadfence();
  Leaf** place = root;
  for (;;) {
    Leaf* const there = reinterpret_cast<Leaf*>(
        atomicCAS(reinterpret_cast<unsigned long long*>(place), 0ull, reinterpret_cast<unsigned long long>(leaf)));
    if (there == nullptr) break;
    const unsigned key = *const_cast<volatile unsigned*>(&there->key);
    place = &there->child[leaf->key > key];
  }
}

// In order, by one thread, which takes the tree down.
__global__ void fell(Leaf** root, unsigned* keys, unsigned* count) {
  Leaf* stack[64];
  unsigned depth = 0, n = 0;
  Leaf* at = *root;
  while (at != nullptr || depth != 0) {
    while (at != nullptr) {
      stack[depth++] = at;
      at = at->child[0];
    }
    Leaf* const leaf = stack[--depth];
    keys[n++] = leaf->key;
    at = leaf->child[1];
    delete leaf;
  }
  *count = n;
  *root = nullptr;
}

// Scratch memory of a size that each thread chooses, got and given back in every round; and what malloc returned.
__global__ void scratch(unsigned* out, unsigned long long* address, unsigned rounds) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned sum = 0;
  for (unsigned r = 0; r < rounds; ++r) {
    const unsigned n = 1 + (i * 7 + r * 3) % 40;
    unsigned* const some = new unsigned[n];
    for (unsigned k = 0; k < n; ++k) some[k] = i + r * k;
    for (unsigned k = 0; k < n; ++k) sum += some[n - 1 - k];
    if (r == 0) address[i] = reinterpret_cast<unsigned long long>(some);
    delete[] some;
  }
  out[i] = sum;
}

// Objects that refer to each other.
class Shape {
 public:
  __device__ Shape(float x, float y) : x_(x), y_(y) {}
  __device__ float area() const { return x_ * y_; }

 private:
  float x_, y_;
};
struct World {
  Shape** shapes;
  unsigned count;
  __device__ explicit World(unsigned n) : shapes(new Shape*[n]), count(n) {
    for (unsigned i = 0; i < n; ++i) shapes[i] = new Shape(i + 1, 2);
  }
  __device__ ~World() {
    for (unsigned i = 0; i < count; ++i) delete shapes[i];
    delete[] shapes;
  }
};
__global__ void create(World** world, unsigned n) {
  *world = new World(n);
}
__global__ void measure(World** world, float* areas) {
  areas[threadIdx.x] = (*world)->shapes[threadIdx.x]->area();
}
__global__ void destroy(World** world) {
  delete *world;
  *world = nullptr;
}

// How many blocks of 1 MiB a thread gets, as if it were alone; all are given back.
__global__ void exhaust(unsigned* got) {
  void* all[64];
  unsigned n = 0;
  while (n < 64 && (all[n] = malloc(1u << 20)) != nullptr) ++n;
  got[threadIdx.x] = n;
  for (unsigned i = 0; i < n; ++i) free(all[i]);
}
__global__ void keep(void** kept, unsigned bytes) {
  kept[threadIdx.x] = malloc(bytes);
}
__global__ void drop(void** kept) {
  free(kept[threadIdx.x]);
}

// Where blocks lie, for the same output everywhere.
__global__ void place(void** kept, unsigned bytes) {
  kept[blockIdx.x * blockDim.x + threadIdx.x] = malloc(bytes);
}

template <class T>
T* make(unsigned n) {
  T* made = nullptr;
  CHECK(cudaMalloc(&made, n * sizeof(T)));
  CHECK(cudaMemset(made, 0, n * sizeof(T)));
  return made;
}
template <class T>
std::vector<T> get(const T* from, unsigned n) {
  std::vector<T> made(n);
  CHECK(cudaMemcpy(made.data(), from, n * sizeof(T), cudaMemcpyDeviceToHost));
  return made;
}
void expect(bool good, const char* what) {
  if (!good) {
    std::printf("FAILED: %s\n", what);
    std::exit(1);
  }
}

constexpr unsigned kThreads = 256;

void lists() {
  Node** const heads = make<Node*>(kThreads);
  unsigned* const sums = make<unsigned>(kThreads);
  build_lists<<<4, 64>>>(heads);
  thin_lists<<<2, 128>>>(heads, sums, kThreads);
  const std::vector<unsigned> found = get(sums, kThreads);
  for (unsigned i = 0; i < kThreads; ++i) {
    unsigned sum = 0;
    for (unsigned k = 0; k < i % 7; ++k) sum += i * 100 + k;
    expect(found[i] == sum, "sums of lists");
  }
  free_lists<<<4, 64>>>(heads);
  CHECK(cudaDeviceSynchronize());
  for (Node* head : get(heads, kThreads)) expect(head == nullptr, "lists are gone");
}

void tree() {
  Leaf** const root = make<Leaf*>(1);
  std::vector<unsigned> keys(kThreads);
  for (unsigned i = 0; i < kThreads; ++i) keys[i] = i * 167 % kThreads;  // each once
  unsigned* const device_keys = make<unsigned>(kThreads);
  unsigned* const count = make<unsigned>(1);
  CHECK(cudaMemcpy(device_keys, keys.data(), kThreads * sizeof(unsigned), cudaMemcpyHostToDevice));
  plant<<<4, 64>>>(root, device_keys);
  fell<<<1, 1>>>(root, device_keys, count);
  expect(get(count, 1)[0] == kThreads, "leaves of the tree");
  const std::vector<unsigned> sorted = get(device_keys, kThreads);
  for (unsigned i = 0; i < kThreads; ++i) expect(sorted[i] == i, "order of the tree");
}

void scratch_memory() {
  unsigned* const out = make<unsigned>(kThreads);
  unsigned long long* const address = make<unsigned long long>(kThreads);
  scratch<<<4, 64>>>(out, address, 5);
  const std::vector<unsigned> found = get(out, kThreads);
  for (unsigned i = 0; i < kThreads; ++i) {
    unsigned sum = 0;
    for (unsigned r = 0; r < 5; ++r) {
      const unsigned n = 1 + (i * 7 + r * 3) % 40;
      for (unsigned k = 0; k < n; ++k) sum += i + r * k;
    }
    expect(found[i] == sum, "scratch memory");
  }
  const std::vector<unsigned long long> at = get(address, kThreads);
  for (unsigned long long one : at) expect(one != 0 && one % 16 == 0, "alignment");
  unsigned long long mixed = 0;  // of all addresses
  for (unsigned long long one : at) mixed = mixed * 31 + one;
  std::printf("scratch memory lies at %llx\n", mixed);
}

void objects() {
  World** const world = make<World*>(1);
  float* const areas = make<float>(32);
  create<<<1, 1>>>(world, 32);
  measure<<<1, 32>>>(world, areas);
  destroy<<<1, 1>>>(world);
  const std::vector<float> found = get(areas, 32);
  for (unsigned i = 0; i < 32; ++i) expect(found[i] == 2.f * (i + 1), "areas");
}

void limits() {
  unsigned* const got = make<unsigned>(32);
  void** const kept = make<void*>(32);
  exhaust<<<1, 32>>>(got);
  for (unsigned n : get(got, 32)) expect(n == 4, "4 MiB are 4 blocks of 1 MiB");
  keep<<<1, 32>>>(kept, 64 * 1024 + 1);  // 2 MiB and a little
  exhaust<<<1, 32>>>(got);
  for (unsigned n : get(got, 32)) expect(n == 1, "what is kept counts");
  drop<<<1, 32>>>(kept);
  exhaust<<<1, 32>>>(got);
  for (unsigned n : get(got, 32)) expect(n == 4, "what is freed does not");
  keep<<<1, 1>>>(kept, (4u << 20) + 1);
  expect(get(kept, 1)[0] == nullptr, "more than there is");
}

// A launch begins with what earlier ones have left; the rule is in docs/cuda-support.md.
void places() {
  void** const first = make<void*>(64);
  void** const second = make<void*>(64);
  place<<<2, 16>>>(first, 40);  // slots of 64 bytes
  drop<<<1, 8>>>(first + 4);
  place<<<1, 32>>>(second, 33);
  CHECK(cudaDeviceSynchronize());
  const std::vector<void*> a = get(first, 32), b = get(second, 32);
  const auto slot = [&](void* block) { return (static_cast<char*>(block) - static_cast<char*>(a[0])) / 64; };
  for (unsigned i = 0; i < 32; ++i) expect(slot(a[i]) == i, "side by side");
  for (unsigned i = 0; i < 32; ++i) expect(slot(b[i]) == (i < 8 ? 4 + i : 24 + i), "free places first");
  size_t limit = 0;
  CHECK(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
  expect(limit == 4u << 20, "the limit");
  expect(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20) == cudaErrorInvalidValue, "a limit set too late");
  unsigned word = 0;
  expect(cudaMemcpy(&word, a[0], 4, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue, "the host stays out");
}

// Kernels of several streams: those that allocate follow each other, and so find the heap alike wherever they run.
void streams() {
  constexpr unsigned kStreams = 3;
  cudaStream_t stream[kStreams];
  void** kept[kStreams];
  for (unsigned s = 0; s < kStreams; ++s) {
    CHECK(cudaStreamCreate(&stream[s]));
    kept[s] = make<void*>(64);
  }
  for (unsigned round = 0; round < 2; ++round) {
    for (unsigned s = 0; s < kStreams; ++s) {
      place<<<s + 1, 16, 0, stream[s]>>>(kept[s], 200 + 300 * s);
      if (round == 0) drop<<<1, 16 * (s + 1), 0, stream[s]>>>(kept[s]);
    }
  }
  CHECK(cudaDeviceSynchronize());
  unsigned long long mixed = 0;
  for (unsigned s = 0; s < kStreams; ++s) {
    for (void* one : get(kept[s], 16 * (s + 1))) mixed = mixed * 31 + reinterpret_cast<unsigned long long>(one);
  }
  std::printf("streams' blocks lie at %llx\n", mixed);
}

// What must fault: by name.
__global__ void twice(void** kept) {
  free(*kept);
}
__global__ void overrun() {
  volatile int* const some = static_cast<int*>(malloc(24));
  some[5] = 1;
  some[6] = 2;
}
__global__ void use_after_free(int* out) {
  int* const some = new int(5);
  delete some;
  *out = *const_cast<volatile int*>(some);
}
__global__ void stranger(int* out) {
  free(out);
}
__global__ void hoard() {
  *static_cast<volatile char*>(malloc(100 * 1024)) = 1;
}

int main(int argc, char** argv) {
  if (argc > 1) {
    void** const kept = make<void*>(4);
    const auto is = [&](const char* name) { return std::strcmp(argv[1], name) == 0; };
    if (is("twice")) {
      keep<<<1, 4>>>(kept, 40);
      twice<<<1, 4>>>(kept);
    } else if (is("again")) {
      keep<<<1, 4>>>(kept, 40);
      twice<<<1, 1>>>(kept);
      twice<<<1, 1>>>(kept);
    } else if (is("overrun")) {
      overrun<<<1, 3>>>();
    } else if (is("after")) {
      use_after_free<<<1, 3>>>(reinterpret_cast<int*>(kept));
    } else if (is("stranger")) {
      stranger<<<1, 3>>>(reinterpret_cast<int*>(kept));
    } else if (is("hoard")) {
      hoard<<<2, 64>>>();
    }
    std::printf("after: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
  }
  CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 4 << 20));
  lists();
  tree();
  scratch_memory();
  objects();
  limits();
  places();
  streams();
  std::printf("PASSED\n");
}
