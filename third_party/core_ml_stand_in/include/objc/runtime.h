// GCC's objc/runtime.h, whose object_getClass looks into an id, which ARC refuses: there it looks into the struct behind it.
#pragma once
#if __has_feature(objc_arc)
#define object_getClass(parameter) coreml_gate_class_of(struct objc_object *object)
#include_next <objc/runtime.h>
#undef object_getClass
static inline Class object_getClass(id object) { return coreml_gate_class_of((__bridge struct objc_object *)object); }
#else
#include_next <objc/runtime.h>
#endif
