// Recursive ray tracing after Whitted (Communications of the ACM 23(6), 1980), a thread per pixel: a primary ray and up
// to kReflections reflected ones, a shadow ray from each point that is lit. Which bodies a ray meets, and how often it
// is reflected, decides how long a thread runs.
constexpr unsigned kReflections = 5;
constexpr unsigned kMostBodies = 16;

struct Body {
  float x, y, z;
  float radius;  // of a sphere around x, y, z; 0: the floor at height y, a square of x pixels around the origin
  float red, green, blue;  // of the floor: of every other square of its chequers, the others are a quarter as bright
  float mirror;            // part of the light that is reflected
};
struct Scene {
  Body bodies[kMostBodies];
  float eye_x, eye_y, eye_z;        // looks along -z
  float light_x, light_y, light_z;  // a point
};
__constant__ Scene scene;

constexpr float kFar = 1e30f;          // meets nothing
constexpr float kOff = 0.0009765625f;  // how far from a surface reflected and shadow rays begin
constexpr float kFaint = 0.00390625f;  // light that no byte of the picture shows

struct Vector {
  float x, y, z;
};
__device__ __forceinline__ Vector operator+(Vector a, Vector b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
__device__ __forceinline__ Vector operator-(Vector a, Vector b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
__device__ __forceinline__ Vector operator*(float s, Vector a) {
  return {s * a.x, s * a.y, s * a.z};
}
__device__ __forceinline__ float dot(Vector a, Vector b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
__device__ __forceinline__ Vector unit(Vector a) {
  return (1.0f / sqrtf(dot(a, a))) * a;
}

// How far along the ray (origin, direction of length 1) it meets a body: kFar where it does not.
__device__ __forceinline__ float meet(Vector origin, Vector direction, const Body& body) {
  if (body.radius > 0) {
    // t * t + 2 b t + c = 0; from outside, the smaller root.
    const Vector from = origin - Vector{body.x, body.y, body.z};
    const float b = dot(from, direction);
    const float c = dot(from, from) - body.radius * body.radius;
    if (b >= 0) {
      return kFar;
    }
    const float discriminant = b * b - c;
    if (discriminant <= 0) {
      return kFar;
    }
    return -b - sqrtf(discriminant);
  }
  if (direction.y >= 0) {
    return kFar;
  }
  const float t = (body.y - origin.y) / direction.y;
  const float x = origin.x + t * direction.x;
  const float z = origin.z + t * direction.z;
  return fabsf(x) < body.x && fabsf(z) < body.x ? t : kFar;
}

// Red in the lowest byte, then green, blue, and 255.
__device__ __forceinline__ unsigned pixel_of(Vector light) {
  const unsigned red = static_cast<unsigned>(255.0f * __saturatef(light.x) + 0.5f);
  const unsigned green = static_cast<unsigned>(255.0f * __saturatef(light.y) + 0.5f);
  const unsigned blue = static_cast<unsigned>(255.0f * __saturatef(light.z) + 0.5f);
  return red | green << 8 | blue << 16 | 0xff000000U;
}

// picture: side x side pixels, row by row from the top.
extern "C" __global__ void __launch_bounds__(128)
    render(unsigned* __restrict__ picture, unsigned side, unsigned bodies) {
  const unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
  const float pitch = 1.0f / static_cast<float>(side);
  Vector origin = {scene.eye_x, scene.eye_y, scene.eye_z};
  Vector direction = unit(
      {(static_cast<float>(column) + 0.5f) * pitch - 0.5f, 0.5f - (static_cast<float>(row) + 0.5f) * pitch, -1.0f});
  __syncthreads();  // as in the suite's program: rays are traced when all of the block's are made
  Vector seen = {0, 0, 0};
  float weight = 1;  // of what the ray brings in the pixel
  for (unsigned reflection = 0; reflection <= kReflections; ++reflection) {
    float nearest = kFar;
    unsigned met = 0;
    for (unsigned i = 0; i < bodies; ++i) {
      const float t = meet(origin, direction, scene.bodies[i]);
      if (t < nearest) {
        nearest = t;
        met = i;
      }
    }
    if (nearest == kFar) {  // the sky, brighter at the horizon
      const float up = fmaxf(direction.y, 0.0f);
      seen = seen + weight * Vector{0.75f - 0.5f * up, 0.85f - 0.4f * up, 1.0f - 0.2f * up};
      break;
    }
    const Body& body = scene.bodies[met];
    Vector point = origin + nearest * direction;
    Vector normal = {0, 1, 0};
    Vector colour = {body.red, body.green, body.blue};
    if (body.radius > 0) {
      normal = unit(point - Vector{body.x, body.y, body.z});
    } else if (((static_cast<int>(floorf(point.x)) + static_cast<int>(floorf(point.z))) & 1) != 0) {
      colour = 0.25f * colour;
    }
    point = point + kOff * normal;
    Vector shade = 0.1f * colour;
    const Vector to_light = Vector{scene.light_x, scene.light_y, scene.light_z} - point;
    const float distance = sqrtf(dot(to_light, to_light));
    const Vector light = (1.0f / distance) * to_light;
    const float facing = dot(normal, light);
    if (facing > 0) {
      bool lit = true;
      for (unsigned i = 0; i < bodies && lit; ++i) {
        lit = meet(point, light, scene.bodies[i]) >= distance;
      }
      if (lit) {
        shade = shade + 0.7f * facing * colour;
        const float glance = dot(normal, unit(light - direction));  // Blinn's half-way vector
        if (glance > 0) {
          float highlight = glance;
          for (unsigned square = 0; square < 5; ++square) {
            highlight *= highlight;
          }
          shade = shade + highlight * Vector{0.5f, 0.5f, 0.5f};
        }
      }
    }
    seen = seen + weight * (1.0f - body.mirror) * shade;
    weight *= body.mirror;
    if (weight < kFaint) {
      break;
    }
    origin = point;
    direction = direction - 2.0f * dot(direction, normal) * normal;
  }
  picture[row * side + column] = pixel_of(seen);
}
