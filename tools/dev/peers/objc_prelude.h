// What every Objective-C source takes for granted and no binding declares: the runtime's own class, Apple's macros, and the few
// functions of CoreFoundation, libdispatch and os that the checked sources call. Beside the headers that objc_calls.py writes.
#pragma once
#pragma clang system_header
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
typedef bool BOOL;
#define nil nullptr
#else
typedef _Bool BOOL;
#define nil ((void *)0)
#endif
typedef long NSInteger;
typedef unsigned long NSUInteger;
typedef double CGFloat;
typedef unsigned short unichar;
typedef const void *CFTypeRef;
typedef id (*IMP)(id, SEL, ...);
typedef struct {
    unsigned long state;
    id __unsafe_unretained *itemsPtr;
    unsigned long *mutationsPtr;
    unsigned long extra[5];
} NSFastEnumerationState;

#define YES __objc_yes
#define NO __objc_no
#define NS_ASSUME_NONNULL_BEGIN _Pragma("clang assume_nonnull begin")
#define NS_ASSUME_NONNULL_END _Pragma("clang assume_nonnull end")
#ifdef __cplusplus
#define APPLE_EXTERN extern "C"
#else
#define APPLE_EXTERN extern
#endif
#define NS_ENUM(type, name) enum name : type name; enum name : type
#ifdef __cplusplus
#define NS_OPTIONS(type, name) type name; enum : type
#else
#define NS_OPTIONS(type, name) enum name : type name; enum name : type
#endif
#define NS_UNAVAILABLE __attribute__((unavailable))
#define NS_DESIGNATED_INITIALIZER __attribute__((objc_designated_initializer))
#define API_AVAILABLE_macos(v) __attribute__((availability(macos, introduced = v)))
#define API_AVAILABLE(first, ...) API_AVAILABLE_##first

@class NSString, NSMethodSignature, NSInvocation;
@protocol NSObject
- (BOOL)isEqual:(id)object;
- (Class)class;
- (BOOL)isKindOfClass:(Class)aClass;
- (BOOL)conformsToProtocol:(Protocol *)aProtocol;
- (BOOL)respondsToSelector:(SEL)aSelector;
@property (readonly) NSUInteger hash;
@property (readonly, copy) NSString *description;
@end

__attribute__((objc_root_class))
@interface NSObject <NSObject>
+ (instancetype)alloc;
+ (instancetype)new;
+ (Class)class;
- (instancetype)init;
- (id)copy;
- (id)mutableCopy;
@end

#ifdef __cplusplus
extern "C" {
#endif
void CFRelease(CFTypeRef cf);
static inline __attribute__((cf_returns_retained)) CFTypeRef CFBridgingRetain(id x) { return (__bridge_retained CFTypeRef)x; }
#ifdef __cplusplus
}
#endif
