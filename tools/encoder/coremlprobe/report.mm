#import "tools/encoder/coremlprobe/report.h"

#import <CoreML/CoreML.h>

#include <stdio.h>

#if __APPLE__
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

}  // namespace

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
    set(@"schema", @1);
    set(@"version", kVersion);
    set(@"host", hostReport());
}

bool Report::write() {
    NSError *error = nil;
    NSData *data = [NSJSONSerialization dataWithJSONObject:values_ options:NSJSONWritingPrettyPrinted error:&error];
    if (data == nil || ![data writeToFile:path_ atomically:YES]) {
        fprintf(stderr, "coremlprobe: cannot write %s\n", [path_ UTF8String]);
        return false;
    }
    return true;
}

}  // namespace coreml_probe
