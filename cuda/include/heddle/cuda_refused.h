// What programs name and there is not: fetches and accesses of textures and surfaces with a third dimension, layers,
// faces or mipmaps, gathers, and conditional nodes of graphs. Programs that name them compile. Host functions make no
// such texture and no such node, and say so; a kernel that comes to such a call even so ends with its name.
#pragma once

#define HEDDLE_REFUSED_(name) __assertfail(#name " is not there (docs/cuda-support.md)", __FILE__, __LINE__, #name, 1)

#define HEDDLE_NO_FETCH_(name, ...)                                                                  \
  template <class T>                                                                                 \
  HEDDLE_TEXEL_ T name(cudaTextureObject_t, __VA_ARGS__) {                                           \
    HEDDLE_REFUSED_(name);                                                                           \
  }                                                                                                  \
  template <class T>                                                                                 \
  HEDDLE_TEXEL_ void name(T*, cudaTextureObject_t, __VA_ARGS__) {                                    \
    HEDDLE_REFUSED_(name);                                                                           \
  }                                                                                                  \
  template <class T, int type, enum cudaTextureReadMode mode>                                        \
  HEDDLE_TEXEL_ typename __heddle_fetched<T, mode>::type name(texture<T, type, mode>, __VA_ARGS__) { \
    HEDDLE_REFUSED_(name);                                                                           \
  }
HEDDLE_NO_FETCH_(tex3D, float, float, float)
HEDDLE_NO_FETCH_(tex1DLayered, float, int)
HEDDLE_NO_FETCH_(tex2DLayered, float, float, int)
HEDDLE_NO_FETCH_(texCubemap, float, float, float)
HEDDLE_NO_FETCH_(texCubemapLayered, float, float, float, int)
HEDDLE_NO_FETCH_(tex2Dgather, float, float, int = 0)
HEDDLE_NO_FETCH_(tex1DLod, float, float)
HEDDLE_NO_FETCH_(tex2DLod, float, float, float)
HEDDLE_NO_FETCH_(tex3DLod, float, float, float, float)
HEDDLE_NO_FETCH_(tex1DLayeredLod, float, int, float)
HEDDLE_NO_FETCH_(tex2DLayeredLod, float, float, int, float)
HEDDLE_NO_FETCH_(texCubemapLod, float, float, float, float)
HEDDLE_NO_FETCH_(tex1DGrad, float, float, float)
HEDDLE_NO_FETCH_(tex2DGrad, float, float, float2, float2)
HEDDLE_NO_FETCH_(tex3DGrad, float, float, float, float4, float4)
#undef HEDDLE_NO_FETCH_

#define HEDDLE_NO_ACCESS_(name, type, ...)                                                          \
  template <class T>                                                                                \
  HEDDLE_TEXEL_ T name##read(cudaSurfaceObject_t, __VA_ARGS__, int = cudaBoundaryModeTrap) {        \
    HEDDLE_REFUSED_(name##read);                                                                    \
  }                                                                                                 \
  template <class T>                                                                                \
  HEDDLE_TEXEL_ void name##read(T*, cudaSurfaceObject_t, __VA_ARGS__, int = cudaBoundaryModeTrap) { \
    HEDDLE_REFUSED_(name##read);                                                                    \
  }                                                                                                 \
  template <class T>                                                                                \
  HEDDLE_TEXEL_ T name##read(surface<void, type>, __VA_ARGS__, int = cudaBoundaryModeTrap) {        \
    HEDDLE_REFUSED_(name##read);                                                                    \
  }                                                                                                 \
  template <class T>                                                                                \
  HEDDLE_TEXEL_ void name##write(T, cudaSurfaceObject_t, __VA_ARGS__, int = cudaBoundaryModeTrap) { \
    HEDDLE_REFUSED_(name##write);                                                                   \
  }                                                                                                 \
  template <class T>                                                                                \
  HEDDLE_TEXEL_ void name##write(T, surface<void, type>, __VA_ARGS__, int = cudaBoundaryModeTrap) { \
    HEDDLE_REFUSED_(name##write);                                                                   \
  }
HEDDLE_NO_ACCESS_(surf3D, cudaSurfaceType3D, int, int, int)
HEDDLE_NO_ACCESS_(surf1DLayered, cudaSurfaceType1DLayered, int, int)
HEDDLE_NO_ACCESS_(surf2DLayered, cudaSurfaceType2DLayered, int, int, int)
HEDDLE_NO_ACCESS_(surfCubemap, cudaSurfaceTypeCubemap, int, int, int)
HEDDLE_NO_ACCESS_(surfCubemapLayered, cudaSurfaceTypeCubemapLayered, int, int, int)
#undef HEDDLE_NO_ACCESS_

HEDDLE_TEXEL_ void cudaGraphSetConditional(unsigned long long, unsigned int) {
  HEDDLE_REFUSED_(cudaGraphSetConditional);
}
#undef HEDDLE_REFUSED_
