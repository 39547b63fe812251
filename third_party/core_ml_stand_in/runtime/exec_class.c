// What clang writes for -fobjc-runtime=gnustep-1.9 is newer than what GCC's runtime reads. This stands in front of the runtime's
// __objc_exec_class and puts a module into the form of GCC's version 8: module version and size, protocol version, and classes
// of negative size, whose instance variables are counted from the end of their superclass. Programs are linked with
// -Wl,--wrap=__objc_exec_class, so that their own modules come by here; those of shared libraries do not.
#include <stddef.h>
#include <string.h>

struct protocol_list;

struct protocol {
    void *isa;
    const char *name;
    struct protocol_list *protocols;
    void *instance_methods;
    void *class_methods;
};

struct protocol_list {
    struct protocol_list *next;
    size_t count;
    struct protocol *list[];
};

struct ivar {
    const char *name;
    const char *type;
    int offset;
};

struct ivar_list {
    int count;
    struct ivar list[];
};

struct class {
    struct class *isa;
    const char *superclass;  // by name, until the runtime resolves it
    const char *name;
    long version;
    unsigned long info;
    long size;
    struct ivar_list *ivars;
    void *methods;
    void *dispatch_table;
    void *subclasses;
    void *sibling;
    struct protocol_list *protocols;
    void *gc_types;
    long abi_version;
    int **ivar_offsets;
};

struct category {
    const char *name;
    const char *class_name;
    void *instance_methods;
    void *class_methods;
    struct protocol_list *protocols;
};

struct statics {
    const char *class_name;
    struct protocol *instances[];  // of class Protocol; other classes' are left alone
};

struct symbols {
    unsigned long selector_count;
    void *selectors;
    unsigned short class_count;
    unsigned short category_count;
    void *definitions[];  // classes, categories, and a list of statics or NULL
};

struct module {
    unsigned long version;
    unsigned long size;
    const char *name;
    struct symbols *symbols;
};

extern void __real___objc_exec_class(struct module *);

extern void *objc_getClass(const char *);
extern size_t class_getInstanceSize(void *);

enum { kModuleVersion = 8, kProtocolVersion = 2 };

static void adopt(struct protocol *p);

static void adopt_list(struct protocol_list *l) {
    for (; l != NULL; l = l->next) {
        for (size_t i = 0; i < l->count; i++) {
            adopt(l->list[i]);
        }
    }
}

// A protocol that the runtime has seen has its class in place of the version.
static void adopt(struct protocol *p) {
    if ((size_t)p->isa < 16) {
        p->isa = (void *)(size_t)kProtocolVersion;
    }
    adopt_list(p->protocols);
}

static void place(struct class *c) {
    if (c->size > 0) {
        return;
    }
    const long base = (long)class_getInstanceSize(objc_getClass(c->superclass));
    c->size = base - c->size;
    for (int i = 0; c->ivars != NULL && i < c->ivars->count; i++) {
        c->ivars->list[i].offset += (int)base;
        *c->ivar_offsets[i] = c->ivars->list[i].offset;
    }
}

void __wrap___objc_exec_class(struct module *m) {
    m->version = kModuleVersion;
    m->size = sizeof *m;
    struct symbols *s = m->symbols;
    for (int i = 0; i < s->class_count; i++) {
        struct class *c = s->definitions[i];
        adopt_list(c->protocols);
        place(c);
    }
    for (int i = 0; i < s->category_count; i++) {
        struct category *c = s->definitions[s->class_count + i];
        adopt_list(c->protocols);
    }
    struct statics **statics = s->definitions[s->class_count + s->category_count];
    for (; statics != NULL && *statics != NULL; statics++) {
        if (strcmp((*statics)->class_name, "Protocol") == 0) {
            for (struct protocol **p = (*statics)->instances; *p != NULL; p++) {
                adopt(*p);
            }
        }
    }
    __real___objc_exec_class(m);
}
