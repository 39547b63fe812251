// Declarations of those parts of Apple's CoreML framework that upstream's bridge and coremlprobe use, for hosts without it.
// Names, types and codes are those of Apple's documentation; ../../core_ml.mm implements them over our evaluator.
#pragma once

#import <Foundation/Foundation.h>

// What is compiled over the stand-in can say so.
#define CORE_ML_STAND_IN 1

#import <CoreML/ComputePlan.h>

NS_ASSUME_NONNULL_BEGIN

typedef NS_ENUM(NSInteger, MLComputeUnits) {
    MLComputeUnitsCPUOnly = 0,
    MLComputeUnitsCPUAndGPU = 1,
    MLComputeUnitsAll = 2,
    MLComputeUnitsCPUAndNeuralEngine = 3,
};

typedef NS_ENUM(NSInteger, MLMultiArrayDataType) {
    MLMultiArrayDataTypeFloat64 = 0x10000 | 64,
    MLMultiArrayDataTypeFloat32 = 0x10000 | 32,
    MLMultiArrayDataTypeFloat16 = 0x10000 | 16,
    MLMultiArrayDataTypeInt32 = 0x20000 | 32,
};

typedef NS_ENUM(NSInteger, MLReshapeFrequencyHint) {
    MLReshapeFrequencyHintFrequent = 0,
    MLReshapeFrequencyHintInfrequent = 1,
};

typedef NS_ENUM(NSInteger, MLSpecializationStrategy) {
    MLSpecializationStrategyDefault = 0,
    MLSpecializationStrategyFastPrediction = 1,
};

@protocol MTLDevice;

// Nobody here asks for a parameter.
@interface MLParameterKey : NSObject <NSCopying>
@end

@interface MLOptimizationHints : NSObject <NSCopying>
@property (nonatomic) MLReshapeFrequencyHint reshapeFrequency;
@property (nonatomic) MLSpecializationStrategy specializationStrategy;
@end

@interface MLModelConfiguration : NSObject <NSCopying>
@property (nonatomic) MLComputeUnits computeUnits;
@property (nonatomic) BOOL allowLowPrecisionAccumulationOnGPU;
@property (nonatomic, strong, nullable) id<MTLDevice> preferredMetalDevice;
@property (nonatomic, strong, nullable) NSDictionary<MLParameterKey *, id> *parameters;
@property (nonatomic, copy) MLOptimizationHints *optimizationHints;
@property (nonatomic, copy, nullable) NSString *functionName;
@end

@interface MLMultiArray : NSObject
@property (readonly, nonatomic) MLMultiArrayDataType dataType;
@property (readonly, nonatomic) NSArray<NSNumber *> *shape;
@property (readonly, nonatomic) NSArray<NSNumber *> *strides;
@property (readonly, nonatomic) NSInteger count;
@property (readonly, nonatomic) void *dataPointer;
- (nullable instancetype)initWithDataPointer:(void *)dataPointer
                                       shape:(NSArray<NSNumber *> *)shape
                                    dataType:(MLMultiArrayDataType)dataType
                                     strides:(NSArray<NSNumber *> *)strides
                                 deallocator:(void (^_Nullable)(void *bytes))deallocator
                                       error:(NSError *_Nullable __autoreleasing *_Nullable)error;
@end

@interface MLFeatureValue : NSObject
@property (readonly, nonatomic, nullable) MLMultiArray *multiArrayValue;
+ (instancetype)featureValueWithMultiArray:(MLMultiArray *)value;
@end

@protocol MLFeatureProvider <NSObject>
@property (readonly, nonatomic) NSSet<NSString *> *featureNames;
- (nullable MLFeatureValue *)featureValueForName:(NSString *)featureName;
@end

@protocol MLBatchProvider <NSObject>
@property (readonly, nonatomic) NSInteger count;
- (id<MLFeatureProvider>)featuresAtIndex:(NSInteger)index;
@end

@interface MLArrayBatchProvider : NSObject <MLBatchProvider>
- (instancetype)initWithFeatureProviderArray:(NSArray<id<MLFeatureProvider>> *)array;
@end

@interface MLPredictionOptions : NSObject
@end

@interface MLModel : NSObject
+ (nullable instancetype)modelWithContentsOfURL:(NSURL *)url error:(NSError *_Nullable __autoreleasing *_Nullable)error;
+ (nullable instancetype)modelWithContentsOfURL:(NSURL *)url
                                  configuration:(MLModelConfiguration *)configuration
                                          error:(NSError *_Nullable __autoreleasing *_Nullable)error;
+ (void)loadContentsOfURL:(NSURL *)url
            configuration:(MLModelConfiguration *)configuration
        completionHandler:(void (^)(MLModel *_Nullable model, NSError *_Nullable error))handler;
- (nullable id<MLFeatureProvider>)predictionFromFeatures:(id<MLFeatureProvider>)input error:(NSError *_Nullable __autoreleasing *_Nullable)error;
- (nullable id<MLFeatureProvider>)predictionFromFeatures:(id<MLFeatureProvider>)input
                                                 options:(MLPredictionOptions *)options
                                                   error:(NSError *_Nullable __autoreleasing *_Nullable)error;
- (void)predictionFromFeatures:(id<MLFeatureProvider>)input
                       options:(MLPredictionOptions *)options
             completionHandler:(void (^)(id<MLFeatureProvider> _Nullable output, NSError *_Nullable error))completionHandler API_AVAILABLE(macos(14.0));
- (nullable id<MLBatchProvider>)predictionsFromBatch:(id<MLBatchProvider>)inputBatch
                                             options:(MLPredictionOptions *)options
                                               error:(NSError *_Nullable __autoreleasing *_Nullable)error;
@end

NS_ASSUME_NONNULL_END
