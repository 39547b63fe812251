// The functions that code compiled with -fobjc-arc for -fobjc-runtime=gnustep-1.9 calls, over GCC's runtime. Compiled
// without ARC and for -fobjc-runtime=gcc.
#import <Foundation/Foundation.h>

#include <objc/message.h>
#include <objc/runtime.h>

id objc_retain(id x) { return [x retain]; }

void objc_release(id x) { [x release]; }

id objc_autorelease(id x) { return [x autorelease]; }

id objc_retainAutorelease(id x) { return [[x retain] autorelease]; }

// What a function returns and its caller retains at once never enters a pool, as on a Mac, so that a model ends when its
// context is freed. The object waits here in between; one that nobody took goes into the pool that was current then.
static __thread id returned;

static void put_away(void) {
    id x = returned;
    returned = nil;
    [x autorelease];
}

id objc_autoreleaseReturnValue(id x) {
    put_away();
    returned = x;
    return x;
}

id objc_retainAutoreleaseReturnValue(id x) { return objc_autoreleaseReturnValue([x retain]); }

id objc_retainAutoreleasedReturnValue(id x) {
    if (x != nil && x == returned) {
        returned = nil;
        return x;
    }
    return [x retain];
}

id objc_retainBlock(id x) { return [x copy]; }

void objc_storeStrong(id *to, id x) {
    id before = *to;
    [x retain];
    *to = x;
    [before release];
}

// Setters of properties that copy. The instance variable lies at an offset from the object.
void objc_setProperty_nonatomic_copy(id object, SEL selector, id x, ptrdiff_t offset) {
    id *at = (id *)((char *)object + offset);
    id before = *at;
    (void)selector;
    *at = [x copy];
    [before release];
}

void *objc_autoreleasePoolPush(void) {
    put_away();
    return [[NSAutoreleasePool alloc] init];
}

void objc_autoreleasePoolPop(void *pool) {
    put_away();
    [(NSAutoreleasePool *)pool release];
}

void CFRelease(const void *x) { [(id)x release]; }

// What libobjc2 caches of a method. Only the method is read.
struct slot {
    Class owner;
    Class cached_for;
    const char *types;
    int version;
    IMP method;
};

// On a Mac what is autoreleased where no pool is lives as long as its thread. GNUstep complains instead, so each thread gets
// a pool with its first message. It is never drained.
static void have_pool(void) {
    static __thread BOOL had;
    if (!had) {
        had = YES;
        (void)[[NSAutoreleasePool alloc] init];
    }
}

struct slot *objc_msg_lookup_sender(id *receiver, SEL selector, id sender) {
    static __thread struct slot found;
    (void)sender;
    have_pool();
    found.method = objc_msg_lookup(*receiver, selector);
    return &found;
}

struct slot *objc_slot_lookup_super(struct objc_super *super, SEL selector) {
    static __thread struct slot found;
    found.method = objc_msg_lookup_super(super, selector);
    return &found;
}

// Blocks. Upstream's asynchronous functions mention them and nothing here calls those: a block that is copied is a mistake.
void *_NSConcreteStackBlock[32];
void *_NSConcreteGlobalBlock[32];

void _Block_object_assign(void *to, const void *from, int flags) {
    (void)to, (void)from, (void)flags;
    abort();
}

void _Block_object_dispose(const void *object, int flags) {
    (void)object, (void)flags;
    abort();
}
