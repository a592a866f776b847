// Rows of a table of functions with their arguments: each pointer is tried as null and as one to nothing.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdio>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

static int failures = 0;
static std::set<std::string> names;

static void expect(cudaError_t error, int expected, const std::string& what) {
  cudaGetLastError();
  if (expected < 0 || error == expected) return;
  ++failures;
  std::printf("%s: %d (%s), not %d\n", what.c_str(), error, cudaGetErrorName(error), expected);
}

template <class T>
struct As {
  using Type = T;
};

// What null and what an address of nothing give; -1: not tried, -2: anything.
struct Meaning {
  int null, junk;
};
static Meaning meaning(char letter) {
  switch (letter) {
    case 'v':  // must be there
      return {cudaErrorInvalidValue, cudaErrorInvalidValue};
    case 'o':  // may be null
      return {cudaSuccess, -1};
    case 'f':  // is given back: null is nothing
      return {cudaSuccess, cudaErrorInvalidValue};
    case 's':  // a stream: null is the default one
      return {-2, cudaErrorInvalidResourceHandle};
    case 'h':  // a stream or event that must be there
      return {cudaErrorInvalidResourceHandle, cudaErrorInvalidResourceHandle};
    case 'e':  // an event of a graph's node
      return {cudaErrorInvalidValue, cudaErrorInvalidResourceHandle};
    case 'k':  // a kernel
      return {cudaErrorInvalidDeviceFunction, cudaErrorInvalidDeviceFunction};
    case 'y':  // a variable
      return {cudaErrorInvalidSymbol, cudaErrorInvalidSymbol};
    case 't':  // a reference
      return {cudaErrorInvalidTexture, cudaErrorInvalidTexture};
    case 'c':  // a format
      return {cudaErrorInvalidChannelDescriptor, -1};
    case 'd':  // another error comes first
      return {cudaErrorInvalidDevice, cudaErrorInvalidDevice};
    default:
      return {-1, -1};
  }
}

template <std::size_t I, class Result, class... P>
void try_one(const char* name, Result (*function)(P...), const char*& letters, const std::tuple<P...>& good) {
  using Argument = std::tuple_element_t<I, std::tuple<P...>>;
  if constexpr (std::is_pointer_v<Argument>) {
    const Meaning means = meaning(*letters++);
    const auto call = [&](std::uintptr_t value, int expected, const char* what) {
      if (expected == -1) return;
      std::tuple<P...> arguments = good;
      std::get<I>(arguments) = reinterpret_cast<Argument>(value);
      const std::string text = std::string(name) + ", argument " + std::to_string(I + 1) + " " + what;
      expect(std::apply(function, arguments), expected == -2 ? -1 : expected, text);
    };
    call(0, means.null, "null");
    call(0x99, means.junk, "of nothing");
  }
}

template <class Result, class... P, std::size_t... I>
void try_all(const char* name, Result (*function)(P...), const char* letters, const std::tuple<P...>& good,
             std::index_sequence<I...>) {
  (try_one<I>(name, function, letters, good), ...);
}

template <class Result, class... P>
void row(const char* name, Result (*function)(P...), const char* letters, typename As<P>::Type... good) {
  names.insert(name);
  try_all(name, function, letters, std::tuple<P...>(good...), std::index_sequence_for<P...>());
}
#define ROW(name, ...) row(#name, name, __VA_ARGS__)
