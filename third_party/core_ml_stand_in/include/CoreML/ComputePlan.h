// Declarations of MLComputePlan, MLModelStructure and the compute devices, for coremlprobe. ../../compute_plan.mm implements them.
// Names and types are those of Apple's headers (macOS 14.0 for devices, 14.4 for plans).
#pragma once

#import <Foundation/Foundation.h>

@class MLModelConfiguration;

NS_ASSUME_NONNULL_BEGIN

@protocol MLComputeDeviceProtocol <NSObject>
@end

@interface MLCPUComputeDevice : NSObject <MLComputeDeviceProtocol>
@end

@interface MLGPUComputeDevice : NSObject <MLComputeDeviceProtocol>
@end

@interface MLNeuralEngineComputeDevice : NSObject <MLComputeDeviceProtocol>
@property (readonly, nonatomic) NSInteger totalCoreCount;
@end

#ifdef __cplusplus
extern "C" {
#endif
NSArray<id<MLComputeDeviceProtocol>> *MLAllComputeDevices(void);
#ifdef __cplusplus
}
#endif

@interface MLModelStructureProgramNamedValueType : NSObject
@property (readonly, nonatomic) NSString *name;
@end

@class MLModelStructureProgramBlock;

@interface MLModelStructureProgramOperation : NSObject
@property (readonly, nonatomic) NSString *operatorName;
@property (readonly, nonatomic) NSArray<MLModelStructureProgramNamedValueType *> *outputs;
@property (readonly, nonatomic) NSArray<MLModelStructureProgramBlock *> *blocks;
@end

@interface MLModelStructureProgramBlock : NSObject
@property (readonly, nonatomic) NSArray<MLModelStructureProgramOperation *> *operations;
@end

@interface MLModelStructureProgramFunction : NSObject
@property (readonly, nonatomic) MLModelStructureProgramBlock *block;
@end

@interface MLModelStructureProgram : NSObject
@property (readonly, nonatomic) NSDictionary<NSString *, MLModelStructureProgramFunction *> *functions;
@end

@interface MLModelStructureNeuralNetworkLayer : NSObject
@property (readonly, nonatomic) NSString *name;
@property (readonly, nonatomic) NSString *type;
@end

@interface MLModelStructureNeuralNetwork : NSObject
@property (readonly, nonatomic) NSArray<MLModelStructureNeuralNetworkLayer *> *layers;
@end

@interface MLModelStructure : NSObject
@property (readonly, nonatomic, nullable) MLModelStructureNeuralNetwork *neuralNetwork;
@property (readonly, nonatomic, nullable) MLModelStructureProgram *program;
@end

@interface MLComputePlanDeviceUsage : NSObject
@property (readonly, nonatomic) NSArray<id<MLComputeDeviceProtocol>> *supportedComputeDevices;
@property (readonly, nonatomic) id<MLComputeDeviceProtocol> preferredComputeDevice;
@end

@interface MLComputePlanCost : NSObject
@property (readonly, nonatomic) double weight;
@end

@interface MLComputePlan : NSObject
+ (void)loadContentsOfURL:(NSURL *)url
            configuration:(MLModelConfiguration *)configuration
        completionHandler:(void (^)(MLComputePlan *_Nullable computePlan, NSError *_Nullable error))handler;
@property (readonly, nonatomic) MLModelStructure *modelStructure;
- (nullable MLComputePlanDeviceUsage *)computeDeviceUsageForMLProgramOperation:(MLModelStructureProgramOperation *)operation;
- (nullable MLComputePlanDeviceUsage *)computeDeviceUsageForNeuralNetworkLayer:(MLModelStructureNeuralNetworkLayer *)layer;
- (nullable MLComputePlanCost *)estimatedCostOfMLProgramOperation:(MLModelStructureProgramOperation *)operation;
@end

NS_ASSUME_NONNULL_END
