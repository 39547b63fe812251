// The stand-in's MLComputePlan and device list. The plan names the operations of the model that it was asked about, and everything
// else in it is made up, by rules that a test can rely on: each operation but the constants has the same weight; the Neural Engine
// is preferred where there is one and the configuration lets it, except for casts, which the processor does.
//
// Words of COREML_GATE_STAND_IN:
//
//   no-neural-engine   the machine has none
//   plan-unavailable   as before macOS 14.4
//   plan-fails, plan-aborts, plan-never
//   plan-unweighed     no operation has a cost
//   plan-cpu-NAME, plan-gpu-NAME   prefers that device for operations of this name (without its opset) or with this output
#import <CoreML/CoreML.h>

#include <stdlib.h>
#include <string.h>

#include <string>
#include <vector>

#include "third_party/core_ml_stand_in/faults.h"
#include "third_party/core_ml_stand_in/program.h"

using core_ml_stand_in::asked;
using core_ml_stand_in::asks;
using core_ml_stand_in::logLine;
using core_ml_stand_in::string;

namespace {

const NSInteger kCores = 16;

}  // namespace

@implementation MLCPUComputeDevice
@end

@implementation MLGPUComputeDevice
@end

@implementation MLNeuralEngineComputeDevice
- (NSInteger)totalCoreCount {
    return kCores;
}
@end

NSArray<id<MLComputeDeviceProtocol>> *MLAllComputeDevices(void) {
    NSMutableArray *all = [NSMutableArray array];
    [all addObject:[[MLCPUComputeDevice alloc] init]];
    [all addObject:[[MLGPUComputeDevice alloc] init]];
    if (!asks(@"no-neural-engine")) {
        [all addObject:[[MLNeuralEngineComputeDevice alloc] init]];
    }
    return all;
}

@implementation MLModelStructureProgramNamedValueType
@synthesize name;

- (instancetype)initWithName:(NSString *)its {
    self = [super init];
    if (self != nil) {
        name = [its copy];
    }
    return self;
}
@end

@implementation MLModelStructureProgramOperation
@synthesize operatorName, outputs;

- (instancetype)initWithOperation:(const core_ml_stand_in::Operation &)of {
    self = [super init];
    if (self != nil) {
        operatorName = string(of.operator_name);
        NSMutableArray *named = [NSMutableArray array];
        for (const std::string &n : of.outputs) {
            [named addObject:[[MLModelStructureProgramNamedValueType alloc] initWithName:string(n)]];
        }
        outputs = named;
    }
    return self;
}

- (NSArray *)blocks {
    return @[];
}
@end

@implementation MLModelStructureProgramBlock
@synthesize operations;

- (instancetype)initWithOperations:(NSArray *)its {
    self = [super init];
    if (self != nil) {
        operations = [its copy];
    }
    return self;
}
@end

@implementation MLModelStructureProgramFunction
@synthesize block;

- (instancetype)initWithBlock:(MLModelStructureProgramBlock *)its {
    self = [super init];
    if (self != nil) {
        block = its;
    }
    return self;
}
@end

@implementation MLModelStructureProgram
@synthesize functions;

- (instancetype)initWithFunctions:(NSDictionary *)its {
    self = [super init];
    if (self != nil) {
        functions = [its copy];
    }
    return self;
}
@end

@implementation MLModelStructureNeuralNetworkLayer
- (NSString *)name {
    return @"";
}
- (NSString *)type {
    return @"";
}
@end

@implementation MLModelStructureNeuralNetwork
- (NSArray *)layers {
    return @[];
}
@end

@implementation MLModelStructure
@synthesize program;

- (instancetype)initWithProgram:(MLModelStructureProgram *)its {
    self = [super init];
    if (self != nil) {
        program = its;
    }
    return self;
}

// The stand-in takes programs alone.
- (MLModelStructureNeuralNetwork *)neuralNetwork {
    return nil;
}
@end

@implementation MLComputePlanDeviceUsage
@synthesize supportedComputeDevices, preferredComputeDevice;

- (instancetype)initWithSupported:(NSArray *)supported preferred:(id<MLComputeDeviceProtocol>)preferred {
    self = [super init];
    if (self != nil) {
        supportedComputeDevices = [supported copy];
        preferredComputeDevice = preferred;
    }
    return self;
}
@end

@implementation MLComputePlanCost
@synthesize weight;

- (instancetype)initWithWeight:(double)its {
    self = [super init];
    if (self != nil) {
        weight = its;
    }
    return self;
}
@end

@implementation MLComputePlan {
    NSArray *_devices;
    NSUInteger _weighed;
}
@synthesize modelStructure;

+ (BOOL)respondsToSelector:(SEL)selector {
    return asks(@"plan-unavailable") ? NO : [super respondsToSelector:selector];
}

// Calls back at once, on the caller's thread. Apple's calls back on another.
+ (void)loadContentsOfURL:(NSURL *)url
            configuration:(MLModelConfiguration *)configuration
        completionHandler:(__unsafe_unretained void (^)(MLComputePlan *, NSError *))handler {
    logLine("coreml_stand_in: a made-up compute plan");
    const std::string path = [[url path] fileSystemRepresentation];
    std::vector<core_ml_stand_in::Operation> operations;
    std::string function, why;
    if (NSString *word = core_ml_stand_in::unknownWord()) {
        why = std::string("COREML_GATE_STAND_IN names ") + [word UTF8String] + ", which the stand-in does not know";
    } else if (asks(@"plan-aborts")) {
        abort();
    } else if (asks(@"plan-never")) {
        return;
    } else if (asks(@"plan-fails")) {
        why = "Failed to build the model execution plan";
    } else {
        core_ml_stand_in::read_operations(path, operations, function, why);
    }
    if (!why.empty()) {
        NSError *error = nil;
        core_ml_stand_in::fail(&error, 0, string(why), nil);
        handler(nil, error);
        return;
    }
    handler([[self alloc] initWithOperations:operations function:function units:configuration.computeUnits], nil);
}

- (instancetype)initWithOperations:(const std::vector<core_ml_stand_in::Operation> &)operations
                          function:(const std::string &)function
                             units:(MLComputeUnits)units {
    self = [super init];
    if (self == nil) {
        return nil;
    }
    NSMutableArray *usable = [NSMutableArray array];
    for (id device in MLAllComputeDevices()) {
        const bool neural = [device isKindOfClass:[MLNeuralEngineComputeDevice class]], gpu = [device isKindOfClass:[MLGPUComputeDevice class]];
        if ((!neural || units == MLComputeUnitsAll || units == MLComputeUnitsCPUAndNeuralEngine) &&
            (!gpu || units == MLComputeUnitsAll || units == MLComputeUnitsCPUAndGPU)) {
            [usable addObject:device];
        }
    }
    _devices = usable;
    NSMutableArray *made = [NSMutableArray array];
    for (const core_ml_stand_in::Operation &o : operations) {
        [made addObject:[[MLModelStructureProgramOperation alloc] initWithOperation:o]];
        _weighed += o.operator_name == "const" ? 0 : 1;
    }
    MLModelStructureProgramFunction *main =
        [[MLModelStructureProgramFunction alloc] initWithBlock:[[MLModelStructureProgramBlock alloc] initWithOperations:made]];
    modelStructure = [[MLModelStructure alloc]
        initWithProgram:[[MLModelStructureProgram alloc] initWithFunctions:[NSDictionary dictionaryWithObject:main forKey:string(function)]]];
    return self;
}

- (id<MLComputeDeviceProtocol>)deviceOfClass:(Class)wanted {
    for (id device in _devices) {
        if ([device isKindOfClass:wanted]) {
            return device;
        }
    }
    return [_devices objectAtIndex:0];
}

// Whether a word names the operation, by its operator or by an output.
- (bool)asked:(NSString *)prefix about:(MLModelStructureProgramOperation *)operation {
    NSString *plain = [[operation.operatorName componentsSeparatedByString:@"."] lastObject];
    for (NSString *name in asked(prefix)) {
        if ([name isEqual:plain]) {
            return true;
        }
        for (MLModelStructureProgramNamedValueType *output in operation.outputs) {
            if ([name isEqual:output.name]) {
                return true;
            }
        }
    }
    return false;
}

- (MLComputePlanDeviceUsage *)computeDeviceUsageForMLProgramOperation:(MLModelStructureProgramOperation *)operation {
    if ([operation.operatorName isEqual:@"const"]) {
        return nil;
    }
    Class wanted = [MLNeuralEngineComputeDevice class];
    if ([self asked:@"plan-gpu-" about:operation]) {
        wanted = [MLGPUComputeDevice class];
    } else if ([operation.operatorName hasSuffix:@".cast"] || [self asked:@"plan-cpu-" about:operation]) {
        wanted = [MLCPUComputeDevice class];
    }
    return [[MLComputePlanDeviceUsage alloc] initWithSupported:_devices preferred:[self deviceOfClass:wanted]];
}

- (MLComputePlanDeviceUsage *)computeDeviceUsageForNeuralNetworkLayer:(MLModelStructureNeuralNetworkLayer *)layer {
    (void)layer;
    return nil;
}

- (MLComputePlanCost *)estimatedCostOfMLProgramOperation:(MLModelStructureProgramOperation *)operation {
    if (asks(@"plan-unweighed") || [operation.operatorName isEqual:@"const"]) {
        return nil;
    }
    return [[MLComputePlanCost alloc] initWithWeight:1.0 / double(_weighed)];
}
@end
