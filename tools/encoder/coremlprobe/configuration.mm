#import "tools/encoder/coremlprobe/configuration.h"

#import "tools/encoder/coremlprobe/report.h"

namespace coreml_probe {

const Units kUnits[] = {
    {"all", MLComputeUnitsAll},
    {"cpu_and_neural_engine", MLComputeUnitsCPUAndNeuralEngine},
    {"cpu_and_gpu", MLComputeUnitsCPUAndGPU},
    {"cpu_only", MLComputeUnitsCPUOnly},
};
const size_t kUnitsCount = sizeof kUnits / sizeof kUnits[0];

namespace {

NSString *unitsName(MLComputeUnits value) {
    for (const Units &u : kUnits) {
        if (u.value == value) {
            return [NSString stringWithUTF8String:u.name];
        }
    }
    return [NSString stringWithFormat:@"unknown (%ld)", (long)value];
}

void add(NSMutableArray *fields, NSString *name, NSString *value) { [fields addObject:@[ name, value ]]; }

// Every field of a configuration that can change what runs.
NSArray *fieldsOf(MLModelConfiguration *c) {
    NSMutableArray *fields = [NSMutableArray array];
    add(fields, @"computeUnits", unitsName(c.computeUnits));
    add(fields, @"allowLowPrecisionAccumulationOnGPU", c.allowLowPrecisionAccumulationOnGPU ? @"true" : @"false");
    add(fields, @"preferredMetalDevice", c.preferredMetalDevice == nil ? @"none" : @"set");
    add(fields, @"parameters", [c.parameters count] == 0 ? @"none" : [c.parameters description]);
    if (@available(macOS 14.4, *)) {
        add(fields, @"optimizationHints.reshapeFrequency",
            [NSString stringWithFormat:@"%ld", (long)c.optimizationHints.reshapeFrequency]);
    }
    if (@available(macOS 15.0, *)) {
        add(fields, @"optimizationHints.specializationStrategy",
            [NSString stringWithFormat:@"%ld", (long)c.optimizationHints.specializationStrategy]);
        add(fields, @"functionName", c.functionName == nil ? @"none" : c.functionName);
    }
    return fields;
}

}  // namespace

MLModelConfiguration *bridgeConfiguration(MLComputeUnits units) {
    MLModelConfiguration *config = [[MLModelConfiguration alloc] init];
    config.computeUnits = units;
    return config;
}

NSArray *configurationReport() {
    NSArray *asked = fieldsOf(bridgeConfiguration(MLComputeUnitsAll));
    NSArray *untouched = fieldsOf([[MLModelConfiguration alloc] init]);
    NSMutableArray *report = [NSMutableArray array];
    for (NSUInteger i = 0; i < [asked count]; i++) {
        [report addObject:@{ @"field" : at(at(asked, i), 0), @"value" : at(at(asked, i), 1), @"default" : at(at(untouched, i), 1) }];
    }
    return report;
}

}  // namespace coreml_probe
