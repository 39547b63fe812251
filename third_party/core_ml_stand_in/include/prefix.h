// Included before every source that is compiled over the stand-in: what Apple's SDK provides and GNUstep does not.
#pragma once

#define API_AVAILABLE(...)
#define API_UNAVAILABLE(...)

#ifndef NS_ASSUME_NONNULL_BEGIN
#define NS_ASSUME_NONNULL_BEGIN _Pragma("clang assume_nonnull begin")
#define NS_ASSUME_NONNULL_END _Pragma("clang assume_nonnull end")
#endif

#ifdef __OBJC__
#import <Foundation/Foundation.h>

#ifdef __cplusplus
extern "C" {
#endif
void CFRelease(const void *);
#ifdef __cplusplus
}
#endif

#if __has_feature(objc_arc)
static inline const void *CFBridgingRetain(id x) { return (__bridge_retained const void *)x; }
#endif

// Apple's nil is a null pointer of any kind; the runtime of GCC makes it an object, which ARC does not convert.
#undef nil
#ifdef __cplusplus
#define nil nullptr
#else
#define nil NULL
#endif
#endif
