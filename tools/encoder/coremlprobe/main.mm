// coremlprobe asks Apple's Core ML as whisper.cpp's bridge does, and tells what the bridge keeps to itself.
//
//   coremlprobe REQUEST.json REPORT.json       predicts
//   coremlprobe repeat REQUEST.json REPORT.json   loads, predicts and unloads again and again
//   coremlprobe plan MODEL.mlmodelc REPORT.json   reads the compute plan: where Core ML would run each operation
//   coremlprobe devices REPORT.json            lists the devices that Core ML reports
//
// The bridge (src/coreml/whisper-encoder.mm) loads with error:nil, predicts with error:nil and copies
// count * sizeof(float) bytes from wherever the output lies. The probe makes the same calls with the same configuration
// and writes down: each attempt to load, in order, with what was asked and Core ML's error; the configuration, field by
// field, beside that of an untouched one; and of each output its type, shape, strides, whether it is contiguous and
// whether it shares memory with an input. Package tools/encoder/probe runs predictions, holds both files' formats, and judges the
// report. Package tools/run/placement does the same for plans and device lists.
//
// The report is written anew before every call into Core ML, so that a crash in there leaves "pending" where it happened.
// It exits 0 when it could write its report, whatever that says, and 2 otherwise. Never run on a Mac by this project's own
// CI; standintest runs it over a stand-in for the framework. It is compiled with ARC, and needs the SDK of macOS 15 (Xcode 16).

#import <Foundation/Foundation.h>

#import "tools/encoder/coremlprobe/placement.h"
#import "tools/encoder/coremlprobe/predict.h"
#import "tools/encoder/coremlprobe/repeat.h"
#import "tools/encoder/coremlprobe/report.h"

#include <stdio.h>
#include <string.h>

namespace {

NSString *text(const char *argument) { return [NSString stringWithUTF8String:argument]; }

using Doing = bool (*)(NSDictionary *request, NSString *reportPath);

bool doFrom(const char *requestPath, const char *reportPath, Doing what) {
    NSData *data = [NSData dataWithContentsOfFile:text(requestPath)];
    NSError *error = nil;
    id request = data == nil ? nil : [NSJSONSerialization JSONObjectWithData:data options:0 error:&error];
    if (![request isKindOfClass:[NSDictionary class]] || ![coreml_probe::get(request, @"schema") isEqual:@1]) {
        fprintf(stderr, "coremlprobe: expected a request of schema 1\n");
        return false;
    }
    return what(request, text(reportPath));
}

}  // namespace

int main(int argc, char **argv) {
    @autoreleasepool {
        bool ok = false;
        if (argc == 4 && strcmp(argv[1], "repeat") == 0) {
            ok = doFrom(argv[2], argv[3], coreml_probe::repeat);
        } else if (argc == 4 && strcmp(argv[1], "plan") == 0) {
            ok = coreml_probe::reportPlan(text(argv[2]), text(argv[3]));
        } else if (argc == 3 && strcmp(argv[1], "devices") == 0) {
            ok = coreml_probe::reportDevices(text(argv[2]));
        } else if (argc == 3) {
            ok = doFrom(argv[1], argv[2], coreml_probe::predict);
        } else {
            fprintf(stderr, "usage: coremlprobe REQUEST.json REPORT.json | repeat REQUEST.json REPORT.json | plan MODEL.mlmodelc REPORT.json | devices REPORT.json\n");
        }
        return ok ? 0 : 2;
    }
}
