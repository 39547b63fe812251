#import "tools/encoder/coremlprobe/report.h"

#import <CoreML/CoreML.h>

#include <stdio.h>

#include <unistd.h>

#if __APPLE__
#include <mach/mach.h>
#include <sys/sysctl.h>
#endif

namespace coreml_probe {

namespace {

NSString *const kVersion = @"2";

NSString *systemString(const char *name) {
#if __APPLE__
    char value[256];
    size_t size = sizeof value;
    if (sysctlbyname(name, value, &size, nullptr, 0) == 0 && size > 0) {
        return [NSString stringWithUTF8String:value];
    }
#else
    (void)name;
#endif
    return @"unknown";
}

NSDictionary *hostReport() {
    return @{
        @"os_version" : systemString("kern.osproductversion"),
        @"os_build" : systemString("kern.osversion"),
        @"hardware" : systemString("hw.model"),
        @"chip" : systemString("machdep.cpu.brand_string"),
    };
}

// Whether a character ends a path in a sentence.
bool endsPath(unichar c) {
    return c <= ' ' || c == '\'' || c == '"' || c == ',' || c == ';' || c == ':' || c == ')' || c == ']' || c == '>' || c == 0x201c || c == 0x201d || c == 0x2019;
}

// A sentence without paths: what begins with a slash where a word begins, and has another one.
NSString *withoutPaths(NSString *text) {
    NSMutableString *out = [NSMutableString string];
    const NSUInteger n = [text length];
    for (NSUInteger i = 0; i < n;) {
        const bool starts = [text characterAtIndex:i] == '/' && (i == 0 || endsPath([text characterAtIndex:i - 1]) || [text characterAtIndex:i - 1] == '(' ||
                                                                 [text characterAtIndex:i - 1] == '=' || [text characterAtIndex:i - 1] == 0x2018);
        NSUInteger end = i + 1;
        bool deeper = false;
        while (starts && end < n && !endsPath([text characterAtIndex:end])) {
            deeper = deeper || [text characterAtIndex:end] == '/';
            end++;
        }
        if (starts && deeper) {
            [out appendString:@"<path>"];
            i = end;
        } else {
            [out appendFormat:@"%C", [text characterAtIndex:i]];
            i++;
        }
    }
    return out;
}

// The value with every string in it as it may leave.
id shown(id value, NSArray *hidden) {
    if ([value isKindOfClass:[NSString class]]) {
        for (NSArray *pair in hidden) {
            value = [value stringByReplacingOccurrencesOfString:at(pair, 0) withString:at(pair, 1)];
        }
        return withoutPaths(value);
    }
    if ([value isKindOfClass:[NSArray class]]) {
        NSMutableArray *out = [NSMutableArray array];
        for (id x in value) {
            [out addObject:shown(x, hidden)];
        }
        return out;
    }
    if ([value isKindOfClass:[NSDictionary class]]) {
        NSMutableDictionary *out = [NSMutableDictionary dictionary];
        for (NSString *key in value) {
            [out setObject:shown([value objectForKey:key], hidden) forKey:key];
        }
        return out;
    }
    return value;
}

}  // namespace

unsigned long long residentBytes() {
#if __APPLE__
    task_vm_info_data_t info;
    mach_msg_type_number_t count = TASK_VM_INFO_COUNT;
    if (task_info(mach_task_self(), TASK_VM_INFO, reinterpret_cast<task_info_t>(&info), &count) == KERN_SUCCESS) {
        return info.phys_footprint;
    }
    return 0;
#else
    unsigned long long whole = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f == nullptr) {
        return 0;
    }
    const bool ok = fscanf(f, "%llu %llu", &whole, &resident) == 2;
    fclose(f);
    return ok ? resident * (unsigned long long)sysconf(_SC_PAGESIZE) : 0;
#endif
}

id described(NSError *error) {
    if (error == nil) {
        return [NSNull null];
    }
    NSString *reason = [[error userInfo] objectForKey:NSLocalizedFailureReasonErrorKey];
    NSMutableArray *under = [NSMutableArray array];
    NSError *next = [[error userInfo] objectForKey:NSUnderlyingErrorKey];
    for (int depth = 0; next != nil && depth < 8; depth++) {
        [under addObject:[NSString stringWithFormat:@"%@ %ld: %@", [next domain], (long)[next code], [next localizedDescription]]];
        next = [[next userInfo] objectForKey:NSUnderlyingErrorKey];
    }
    return @{
        @"domain" : [error domain],
        @"code" : [NSString stringWithFormat:@"%ld", (long)[error code]],
        @"description" : orNull([error localizedDescription]),
        @"reason" : orNull(reason),
        @"underlying" : under,
    };
}

NSDictionary *ownError(NSString *description) {
    return @{ @"domain" : @"coremlprobe", @"code" : @"0", @"description" : description, @"reason" : [NSNull null], @"underlying" : @[] };
}

NSString *unfit(NSString *path) {
    NSFileManager *files = [NSFileManager defaultManager];
    BOOL isFolder = NO;
    if (![files fileExistsAtPath:path isDirectory:&isFolder]) {
        return @"nothing is there";
    }
    if (!isFolder) {
        return @"it is a file, no folder";
    }
    BOOL inner = NO;
    if (![files fileExistsAtPath:[path stringByAppendingPathComponent:@"coremldata.bin"] isDirectory:&inner] || inner) {
        return @"it holds no coremldata.bin, so it is no compiled model";
    }
    return nil;
}

NSString *frameworkName() {
#ifdef CORE_ML_STAND_IN
    return @"stand-in";
#else
    NSString *name = [[NSBundle bundleForClass:[MLModel class]] bundleIdentifier];
    return name != nil ? name : @"unknown";
#endif
}

Report::Report(NSString *path) : path_(path) {
    values_ = [[NSMutableDictionary alloc] init];
    hidden_ = [[NSMutableArray alloc] init];
    set(@"schema", @1);
    set(@"version", kVersion);
    set(@"host", hostReport());
}

void Report::hide(NSString *text, NSString *as) {
    if ([text length] > 1) {
        [hidden_ addObject:@[ [@"file://" stringByAppendingString:text], as ]];
        [hidden_ addObject:@[ text, as ]];
    }
}

bool Report::write() {
    NSError *error = nil;
    NSData *data = [NSJSONSerialization dataWithJSONObject:shown(values_, hidden_) options:NSJSONWritingPrettyPrinted error:&error];
    if (data == nil || ![data writeToFile:path_ atomically:YES]) {
        fprintf(stderr, "coremlprobe: cannot write the report\n");
        return false;
    }
    return true;
}

}  // namespace coreml_probe
