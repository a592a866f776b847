// Textures and surfaces of heddle/cuda.h: fetches by texture objects and references, accesses by surface objects and
// references, of one and two dimensions (docs/cuda-support.md, "Textures and surfaces").
#pragma once

#include "cuda_texture_types.h"

#ifdef HEDDLE_WITH_HOST
// The format of texels of a type (runtime/cuda_runtime.h).
template <class T>
inline cudaChannelFormatDesc cudaCreateChannelDesc();
#endif

// A reference is a variable of the device: in device code its name stands for the handle that the host binds it to, by
// the attribute.
template <class T, int type = cudaTextureType1D, enum cudaTextureReadMode mode = cudaReadModeElementType>
struct __attribute__((device_builtin_texture_type)) texture : public textureReference {
#ifdef HEDDLE_WITH_HOST
  texture(int normalize = 0, enum cudaTextureFilterMode filter = cudaFilterModePoint,
          enum cudaTextureAddressMode address = cudaAddressModeClamp)
      : textureReference() {
    normalized = normalize;
    filterMode = filter;
    addressMode[0] = addressMode[1] = addressMode[2] = address;
    channelDesc = cudaCreateChannelDesc<T>();
  }
  texture(int normalize, enum cudaTextureFilterMode filter, enum cudaTextureAddressMode address,
          struct cudaChannelFormatDesc format)
      : texture(normalize, filter, address) {
    channelDesc = format;
  }
#endif
};
template <class T, int type = cudaSurfaceType1D>
struct surface;
template <int type>
struct __attribute__((device_builtin_surface_type)) surface<void, type> : public surfaceReference {};

#define HEDDLE_TEXEL_ static __device__ __forceinline__ __attribute__((nodebug, unused))

template <class T>
HEDDLE_TEXEL_ T __heddle_channel(unsigned int word) {
  return (T)word;
}
template <>
__device__ __forceinline__ __attribute__((nodebug, unused)) float __heddle_channel<float>(unsigned int word) {
  return __uint_as_float(word);
}

// How many channels a value has, what it is made of, and what it is read as where integers are read as fractions.
template <class T>
struct __heddle_texel;
#define HEDDLE_TEXEL_TYPE_(type, count, real, ...)                               \
  template <>                                                                    \
  struct __heddle_texel<type> {                                                  \
    typedef real fraction;                                                       \
    static constexpr int channels = count;                                       \
    HEDDLE_TEXEL_ type of(const unsigned int (&word)[4]) { return __VA_ARGS__; } \
  };
#define HEDDLE_SCALAR_TEXEL_(type) HEDDLE_TEXEL_TYPE_(type, 1, float, __heddle_channel<type>(word[0]))
#define HEDDLE_VECTOR_TEXEL_(type, channel)                                                            \
  HEDDLE_TEXEL_TYPE_(type##1, 1, float1, type##1 {__heddle_channel<channel>(word[0])})                 \
  HEDDLE_TEXEL_TYPE_(type##2, 2, float2,                                                               \
                     type##2 {__heddle_channel<channel>(word[0]), __heddle_channel<channel>(word[1])}) \
  HEDDLE_TEXEL_TYPE_(type##4, 4, float4,                                                               \
                     type##4 {__heddle_channel<channel>(word[0]), __heddle_channel<channel>(word[1]),  \
                              __heddle_channel<channel>(word[2]), __heddle_channel<channel>(word[3])})
HEDDLE_SCALAR_TEXEL_(char)
HEDDLE_SCALAR_TEXEL_(signed char)
HEDDLE_SCALAR_TEXEL_(unsigned char)
HEDDLE_SCALAR_TEXEL_(short)
HEDDLE_SCALAR_TEXEL_(unsigned short)
HEDDLE_SCALAR_TEXEL_(int)
HEDDLE_SCALAR_TEXEL_(unsigned int)
HEDDLE_SCALAR_TEXEL_(float)
HEDDLE_VECTOR_TEXEL_(char, signed char)
HEDDLE_VECTOR_TEXEL_(uchar, unsigned char)
HEDDLE_VECTOR_TEXEL_(short, short)
HEDDLE_VECTOR_TEXEL_(ushort, unsigned short)
HEDDLE_VECTOR_TEXEL_(int, int)
HEDDLE_VECTOR_TEXEL_(uint, unsigned int)
HEDDLE_VECTOR_TEXEL_(float, float)
#undef HEDDLE_SCALAR_TEXEL_
#undef HEDDLE_VECTOR_TEXEL_
#undef HEDDLE_TEXEL_TYPE_

template <class T, enum cudaTextureReadMode mode>
struct __heddle_fetched {
  typedef T type;
};
template <class T>
struct __heddle_fetched<T, cudaReadModeNormalizedFloat> {
  typedef typename __heddle_texel<T>::fraction type;
};

// A fetch takes registers for the channels that it wants. By an object, into a place, and by a reference, whose copy is
// its handle.
#define HEDDLE_COORDINATE_(x, y) "%" #x
#define HEDDLE_COORDINATES_(x, y) "%" #x ", %" #y
#define HEDDLE_FETCH_(name, form, at, dimensions, parameters, arguments, ...)                                       \
  template <class T>                                                                                                \
  HEDDLE_TEXEL_ T name(cudaTextureObject_t handle, HEDDLE_LIST_ parameters) {                                       \
    unsigned int word[4];                                                                                           \
    if (__heddle_texel<T>::channels == 1) {                                                                         \
      asm(form " {%0, _, _, _}, [%1, {" at(2, 3) "}];" : "=r"(word[0]) : "l"(handle), __VA_ARGS__);                 \
    } else if (__heddle_texel<T>::channels == 2) {                                                                  \
      asm(form " {%0, %1, _, _}, [%2, {" at(3, 4) "}];" : "=r"(word[0]), "=r"(word[1]) : "l"(handle), __VA_ARGS__); \
    } else {                                                                                                        \
      asm(form " {%0, %1, %2, %3}, [%4, {" at(5, 6) "}];"                                                           \
          : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])                                              \
          : "l"(handle), __VA_ARGS__);                                                                              \
    }                                                                                                               \
    return __heddle_texel<T>::of(word);                                                                             \
  }                                                                                                                 \
  template <class T>                                                                                                \
  HEDDLE_TEXEL_ void name(T* value, cudaTextureObject_t handle, HEDDLE_LIST_ parameters) {                          \
    *value = name<T>(handle, HEDDLE_LIST_ arguments);                                                               \
  }                                                                                                                 \
  template <class T, enum cudaTextureReadMode mode>                                                                 \
  HEDDLE_TEXEL_ typename __heddle_fetched<T, mode>::type name(texture<T, dimensions, mode> from,                    \
                                                              HEDDLE_LIST_ parameters) {                            \
    return name<typename __heddle_fetched<T, mode>::type>(*(cudaTextureObject_t*)&from, HEDDLE_LIST_ arguments);    \
  }
#define HEDDLE_LIST_(...) __VA_ARGS__
HEDDLE_FETCH_(tex1Dfetch, "tex.1d.v4.u32.s32", HEDDLE_COORDINATE_, cudaTextureType1D, (int x), (x), "r"(x))
HEDDLE_FETCH_(tex1D, "tex.1d.v4.u32.f32", HEDDLE_COORDINATE_, cudaTextureType1D, (float x), (x), "f"(x))
HEDDLE_FETCH_(tex2D, "tex.2d.v4.u32.f32", HEDDLE_COORDINATES_, cudaTextureType2D, (float x, float y), (x, y), "f"(x),
              "f"(y))
#undef HEDDLE_FETCH_

// Surfaces: x counts bytes, y rows. Values of 1, 2, 4, 8 and 16 bytes, as words (values of less than four bytes as
// halves).
template <int bytes>
struct __heddle_surface;
#define HEDDLE_MODES_(access, ...)            \
  if (mode == cudaBoundaryModeZero) {         \
    access("zero", __VA_ARGS__);              \
  } else if (mode == cudaBoundaryModeClamp) { \
    access("clamp", __VA_ARGS__);             \
  } else {                                    \
    access("trap", __VA_ARGS__);              \
  }
#define HEDDLE_SULD_(mode, form, at, values, outputs, ...) \
  asm volatile("suld.b." form "." mode " {" values "}, [" at "];" : HEDDLE_LIST_ outputs:__VA_ARGS__ : "memory")
#define HEDDLE_SUST_(mode, form, at, values, inputs, ...) \
  asm volatile("sust.b." form "." mode " [" at "], {" values "};" : : HEDDLE_LIST_ inputs, __VA_ARGS__ : "memory")
#define HEDDLE_SURFACE_(bytes, word, form, values, at_1, at_2, outputs, inputs)                                        \
  template <>                                                                                                          \
  struct __heddle_surface<bytes> {                                                                                     \
    typedef word type;                                                                                                 \
    HEDDLE_TEXEL_ void load(word (&v)[4], cudaSurfaceObject_t handle, int x, int mode){                                \
        HEDDLE_MODES_(HEDDLE_SULD_, "1d." form, at_1, values, outputs, "l"(handle), "r"(x))} HEDDLE_TEXEL_             \
        void load(word (&v)[4], cudaSurfaceObject_t handle, int x, int y, int mode){                                   \
            HEDDLE_MODES_(HEDDLE_SULD_, "2d." form, at_2, values, outputs, "l"(handle), "r"(x), "r"(y))} HEDDLE_TEXEL_ \
        void store(const word (&v)[4], cudaSurfaceObject_t handle, int x, int mode){                                   \
            HEDDLE_MODES_(HEDDLE_SUST_, "1d." form, at_1, values, inputs, "l"(handle), "r"(x))} HEDDLE_TEXEL_          \
        void store(const word (&v)[4], cudaSurfaceObject_t handle, int x, int y, int mode) {                           \
      HEDDLE_MODES_(HEDDLE_SUST_, "2d." form, at_2, values, inputs, "l"(handle), "r"(x), "r"(y))                       \
    }                                                                                                                  \
  };
HEDDLE_SURFACE_(1, unsigned short, "b8", "%0", "%1, {%2}", "%1, {%2, %3}", ("=h"(v[0])), ("h"(v[0])))
HEDDLE_SURFACE_(2, unsigned short, "b16", "%0", "%1, {%2}", "%1, {%2, %3}", ("=h"(v[0])), ("h"(v[0])))
HEDDLE_SURFACE_(4, unsigned int, "b32", "%0", "%1, {%2}", "%1, {%2, %3}", ("=r"(v[0])), ("r"(v[0])))
HEDDLE_SURFACE_(8, unsigned int, "v2.b32", "%0, %1", "%2, {%3}", "%2, {%3, %4}", ("=r"(v[0]), "=r"(v[1])),
                ("r"(v[0]), "r"(v[1])))
HEDDLE_SURFACE_(16, unsigned int, "v4.b32", "%0, %1, %2, %3", "%4, {%5}", "%4, {%5, %6}",
                ("=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])), ("r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3])))
#undef HEDDLE_SURFACE_
#undef HEDDLE_SULD_
#undef HEDDLE_SUST_
#undef HEDDLE_MODES_

// By an object, into a place, and by a reference.
#define HEDDLE_SURFACE_ACCESS_(dimension, number, parameters, arguments)                                  \
  template <class T>                                                                                      \
  HEDDLE_TEXEL_ T surf##dimension##read(cudaSurfaceObject_t handle, HEDDLE_LIST_ parameters,              \
                                        enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {       \
    typename __heddle_surface<sizeof(T)>::type word[4];                                                   \
    __heddle_surface<sizeof(T)>::load(word, handle, HEDDLE_LIST_ arguments, mode);                        \
    T value;                                                                                              \
    __builtin_memcpy(&value, word, sizeof(T));                                                            \
    return value;                                                                                         \
  }                                                                                                       \
  template <class T>                                                                                      \
  HEDDLE_TEXEL_ void surf##dimension##read(T* value, cudaSurfaceObject_t handle, HEDDLE_LIST_ parameters, \
                                           enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {    \
    *value = surf##dimension##read<T>(handle, HEDDLE_LIST_ arguments, mode);                              \
  }                                                                                                       \
  template <class T>                                                                                      \
  HEDDLE_TEXEL_ T surf##dimension##read(surface<void, number> from, HEDDLE_LIST_ parameters,              \
                                        enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {       \
    return surf##dimension##read<T>(*(cudaSurfaceObject_t*)&from, HEDDLE_LIST_ arguments, mode);          \
  }                                                                                                       \
  template <class T>                                                                                      \
  HEDDLE_TEXEL_ void surf##dimension##read(T* value, surface<void, number> from, HEDDLE_LIST_ parameters, \
                                           enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {    \
    *value = surf##dimension##read<T>(*(cudaSurfaceObject_t*)&from, HEDDLE_LIST_ arguments, mode);        \
  }                                                                                                       \
  template <class T>                                                                                      \
  HEDDLE_TEXEL_ void surf##dimension##write(T value, cudaSurfaceObject_t handle, HEDDLE_LIST_ parameters, \
                                            enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {   \
    typename __heddle_surface<sizeof(T)>::type word[4] = {};                                              \
    __builtin_memcpy(word, &value, sizeof(T));                                                            \
    __heddle_surface<sizeof(T)>::store(word, handle, HEDDLE_LIST_ arguments, mode);                       \
  }                                                                                                       \
  template <class T>                                                                                      \
  HEDDLE_TEXEL_ void surf##dimension##write(T value, surface<void, number> to, HEDDLE_LIST_ parameters,   \
                                            enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {   \
    surf##dimension##write(value, *(cudaSurfaceObject_t*)&to, HEDDLE_LIST_ arguments, mode);              \
  }
HEDDLE_SURFACE_ACCESS_(1D, cudaSurfaceType1D, (int x), (x))
HEDDLE_SURFACE_ACCESS_(2D, cudaSurfaceType2D, (int x, int y), (x, y))
#undef HEDDLE_SURFACE_ACCESS_
#include "cuda_refused.h"
#undef HEDDLE_LIST_
#undef HEDDLE_COORDINATE_
#undef HEDDLE_COORDINATES_
#undef HEDDLE_TEXEL_
