// Frames of Objective-C++ unwind as those of C++ do: they run what has to be released, and catch no Objective-C object.
extern "C" int __gxx_personality_v0(...);

extern "C" int __gnustep_objcxx_personality_v0(int version, int actions, unsigned long cls, void * exception, void * context) {
    return __gxx_personality_v0(version, actions, cls, exception, context);
}
