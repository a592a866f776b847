/* Marks for a profiler, of which there is none: what NVTX does when no tool listens. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#define NVTX_VERSION 3
#define NVTX_SUCCESS 0
#define NVTX_FAIL 1
#define NVTX_ERR_INIT_LOAD_PROPERTY 2
#define NVTX_NO_PUSH_POP_TRACKING ((int)-2)
#define NVTX_COLOR_UNKNOWN 0
#define NVTX_COLOR_ARGB 1
#define NVTX_MESSAGE_UNKNOWN 0
#define NVTX_MESSAGE_TYPE_ASCII 1
#define NVTX_MESSAGE_TYPE_UNICODE 2
#define NVTX_MESSAGE_TYPE_REGISTERED 3
#define NVTX_PAYLOAD_UNKNOWN 0
#define NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 1
#define NVTX_PAYLOAD_TYPE_INT64 2
#define NVTX_PAYLOAD_TYPE_DOUBLE 3
#define NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 4
#define NVTX_PAYLOAD_TYPE_INT32 5
#define NVTX_PAYLOAD_TYPE_FLOAT 6

typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomainRegistration_st* nvtxDomainHandle_t;
typedef struct nvtxStringRegistration_st* nvtxStringHandle_t;
typedef struct nvtxResourceRegistration_st* nvtxResourceHandle_t;
typedef enum nvtxColorType_t {
  NVTX_COLOR_TYPE_NONE = NVTX_COLOR_UNKNOWN,
  NVTX_COLOR_TYPE_ARGB = NVTX_COLOR_ARGB
} nvtxColorType_t;
typedef union nvtxMessageValue_t {
  const char* ascii;
  const wchar_t* unicode;
  nvtxStringHandle_t registered;
} nvtxMessageValue_t;
typedef nvtxMessageValue_t nvtxMessage_t;
typedef struct nvtxEventAttributes_v2 {
  uint16_t version;
  uint16_t size;
  uint32_t category;
  int32_t colorType;
  uint32_t color;
  int32_t payloadType;
  int32_t reserved0;
  union payload_t {
    uint64_t ullValue;
    int64_t llValue;
    double dValue;
    uint32_t uiValue;
    int32_t iValue;
    float fValue;
  } payload;
  int32_t messageType;
  nvtxMessageValue_t message;
} nvtxEventAttributes_t;
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))

#define HEDDLE_NVTX_ static __inline__ __attribute__((unused))
HEDDLE_NVTX_ void nvtxInitialize(const void* reserved) {
  (void)reserved;
}
HEDDLE_NVTX_ void nvtxMarkA(const char* message) {
  (void)message;
}
HEDDLE_NVTX_ void nvtxMarkW(const wchar_t* message) {
  (void)message;
}
HEDDLE_NVTX_ void nvtxMarkEx(const nvtxEventAttributes_t* attributes) {
  (void)attributes;
}
HEDDLE_NVTX_ nvtxRangeId_t nvtxRangeStartA(const char* message) {
  (void)message;
  return 0;
}
HEDDLE_NVTX_ nvtxRangeId_t nvtxRangeStartW(const wchar_t* message) {
  (void)message;
  return 0;
}
HEDDLE_NVTX_ nvtxRangeId_t nvtxRangeStartEx(const nvtxEventAttributes_t* attributes) {
  (void)attributes;
  return 0;
}
HEDDLE_NVTX_ void nvtxRangeEnd(nvtxRangeId_t id) {
  (void)id;
}
HEDDLE_NVTX_ int nvtxRangePushA(const char* message) {
  (void)message;
  return NVTX_NO_PUSH_POP_TRACKING;
}
HEDDLE_NVTX_ int nvtxRangePushW(const wchar_t* message) {
  (void)message;
  return NVTX_NO_PUSH_POP_TRACKING;
}
HEDDLE_NVTX_ int nvtxRangePushEx(const nvtxEventAttributes_t* attributes) {
  (void)attributes;
  return NVTX_NO_PUSH_POP_TRACKING;
}
HEDDLE_NVTX_ int nvtxRangePop(void) {
  return NVTX_NO_PUSH_POP_TRACKING;
}
HEDDLE_NVTX_ void nvtxNameCategoryA(uint32_t category, const char* name) {
  (void)category;
  (void)name;
}
HEDDLE_NVTX_ void nvtxNameOsThreadA(uint32_t thread, const char* name) {
  (void)thread;
  (void)name;
}
HEDDLE_NVTX_ nvtxDomainHandle_t nvtxDomainCreateA(const char* name) {
  (void)name;
  return NULL;
}
HEDDLE_NVTX_ void nvtxDomainDestroy(nvtxDomainHandle_t domain) {
  (void)domain;
}
HEDDLE_NVTX_ nvtxStringHandle_t nvtxDomainRegisterStringA(nvtxDomainHandle_t domain, const char* text) {
  (void)domain;
  (void)text;
  return NULL;
}
HEDDLE_NVTX_ void nvtxDomainNameCategoryA(nvtxDomainHandle_t domain, uint32_t category, const char* name) {
  (void)domain;
  (void)category;
  (void)name;
}
HEDDLE_NVTX_ void nvtxDomainMarkEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  (void)domain;
  (void)attributes;
}
HEDDLE_NVTX_ nvtxRangeId_t nvtxDomainRangeStartEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  (void)domain;
  (void)attributes;
  return 0;
}
HEDDLE_NVTX_ void nvtxDomainRangeEnd(nvtxDomainHandle_t domain, nvtxRangeId_t id) {
  (void)domain;
  (void)id;
}
HEDDLE_NVTX_ int nvtxDomainRangePushEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  (void)domain;
  (void)attributes;
  return NVTX_NO_PUSH_POP_TRACKING;
}
HEDDLE_NVTX_ int nvtxDomainRangePop(nvtxDomainHandle_t domain) {
  (void)domain;
  return NVTX_NO_PUSH_POP_TRACKING;
}
#undef HEDDLE_NVTX_

#ifdef UNICODE
#define nvtxMark nvtxMarkW
#define nvtxRangeStart nvtxRangeStartW
#define nvtxRangePush nvtxRangePushW
#else
#define nvtxMark nvtxMarkA
#define nvtxRangeStart nvtxRangeStartA
#define nvtxRangePush nvtxRangePushA
#endif
#define nvtxNameCategory nvtxNameCategoryA
#define nvtxNameOsThread nvtxNameOsThreadA
#define nvtxDomainCreate nvtxDomainCreateA
#define nvtxDomainRegisterString nvtxDomainRegisterStringA
#define nvtxDomainNameCategory nvtxDomainNameCategoryA
