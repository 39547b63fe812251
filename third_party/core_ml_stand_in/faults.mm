#import "third_party/core_ml_stand_in/faults.h"

#include <stdio.h>
#include <stdlib.h>

namespace core_ml_stand_in {

namespace {

NSArray *words() {
    const char *text = getenv("COREML_GATE_STAND_IN");
    return text == nullptr || *text == 0 ? @[] : [string(text) componentsSeparatedByString:@" "];
}

}  // namespace

bool asks(NSString *word) { return [words() containsObject:word]; }

NSArray *asked(NSString *prefix) {
    NSMutableArray *found = [NSMutableArray array];
    for (NSString *word in words()) {
        if ([word hasPrefix:prefix]) {
            [found addObject:[word substringFromIndex:[prefix length]]];
        }
    }
    return found;
}

NSString *unknownWord() {
    NSSet *known = [NSSet setWithObjects:@"refuses-all", @"refuses-cpu-and-neural-engine", @"refuses-cpu-and-gpu", @"refuses-cpu-only", @"aborts-load",
                                         @"aborts-predict", @"no-error", @"shares-input", @"writes-input", @"refuses-reload", @"keeps-memory", @"drifts", @"mixes-overlap", @"names-path", @"no-neural-engine", @"tells", @"plan-unavailable",
                                         @"plan-fails", @"plan-aborts", @"plan-never", @"plan-unweighed", nil];
    for (NSString *word in words()) {
        bool has = [known containsObject:word];
        for (NSString *prefix in @[ @"type-", @"plan-cpu-", @"plan-gpu-" ]) {
            has = has || [word hasPrefix:prefix];
        }
        if (!has) {
            return word;
        }
    }
    return nil;
}

void logLine(const std::string &text) {
    fputs((text + "\n").c_str(), stderr);
    fflush(stderr);
}

void fail(NSError *__autoreleasing *error, NSInteger code, NSString *description, NSError *under) {
    if (error == NULL || asks(@"no-error")) {
        return;
    }
    NSMutableDictionary *info = [NSMutableDictionary dictionary];
    [info setObject:description forKey:NSLocalizedDescriptionKey];
    if (under != nil) {
        [info setObject:under forKey:NSUnderlyingErrorKey];
    }
    *error = [NSError errorWithDomain:@"com.apple.CoreML" code:code userInfo:info];
}

NSString *string(const std::string &text) {
    NSString *made = [NSString stringWithUTF8String:text.c_str()];
    return made != nil ? made : @"(no UTF-8)";
}

}  // namespace core_ml_stand_in
