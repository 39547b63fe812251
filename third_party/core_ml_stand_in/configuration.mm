// The stand-in's classes that only carry what a caller asks for (core_ml.mm reads it).
#import <CoreML/CoreML.h>

@implementation MLParameterKey
- (id)copyWithZone:(NSZone *)zone {
    (void)zone;
    return self;
}
@end

@implementation MLOptimizationHints
@synthesize reshapeFrequency, specializationStrategy;

- (id)copyWithZone:(NSZone *)zone {
    MLOptimizationHints *made = [[MLOptimizationHints allocWithZone:zone] init];
    made.reshapeFrequency = self.reshapeFrequency;
    made.specializationStrategy = self.specializationStrategy;
    return made;
}
@end

@implementation MLModelConfiguration
@synthesize computeUnits, allowLowPrecisionAccumulationOnGPU, preferredMetalDevice, parameters, optimizationHints, functionName;

- (instancetype)init {
    self = [super init];
    if (self != nil) {
        // Apple's default is all units too; this one differs, so that a check sees which were asked for.
        computeUnits = MLComputeUnitsCPUOnly;
        optimizationHints = [[MLOptimizationHints alloc] init];
    }
    return self;
}

- (id)copyWithZone:(NSZone *)zone {
    MLModelConfiguration *made = [[MLModelConfiguration allocWithZone:zone] init];
    made.computeUnits = self.computeUnits;
    made.allowLowPrecisionAccumulationOnGPU = self.allowLowPrecisionAccumulationOnGPU;
    made.preferredMetalDevice = self.preferredMetalDevice;
    made.parameters = self.parameters;
    made.optimizationHints = self.optimizationHints;
    made.functionName = self.functionName;
    return made;
}
@end

@implementation MLPredictionOptions
@end
