// Declarations of the parts of Apple's CoreML framework that coremlprobe and upstream's bridge use, for checks on hosts
// without it. stand_in.mm implements them, and the instance variables are its own. Names, types and codes are those of Apple's documentation.
#import <Foundation/Foundation.h>

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

@interface MLOptimizationHints : NSObject {
    NSInteger reshapeFrequency, specializationStrategy;
}
@property (nonatomic) NSInteger reshapeFrequency;
@property (nonatomic) NSInteger specializationStrategy;
@end

@interface MLModelConfiguration : NSObject {
    MLComputeUnits computeUnits;
    BOOL allowLowPrecisionAccumulationOnGPU;
    id preferredMetalDevice;
    NSDictionary *parameters;
    MLOptimizationHints *optimizationHints;
    NSString *functionName;
}
@property (nonatomic) MLComputeUnits computeUnits;
@property (nonatomic) BOOL allowLowPrecisionAccumulationOnGPU;
@property (nonatomic, retain) id preferredMetalDevice;
@property (nonatomic, copy) NSDictionary *parameters;
@property (nonatomic, copy) MLOptimizationHints *optimizationHints;
@property (nonatomic, copy) NSString *functionName;
@end

@interface MLMultiArray : NSObject {
    MLMultiArrayDataType dataType;
    NSArray *shape, *strides;
    void *dataPointer;
}
@property (readonly, nonatomic) MLMultiArrayDataType dataType;
@property (readonly, nonatomic) NSArray *shape;
@property (readonly, nonatomic) NSArray *strides;
@property (readonly, nonatomic) NSInteger count;
@property (readonly, nonatomic) void *dataPointer;
- (instancetype)initWithDataPointer:(void *)dataPointer
                              shape:(NSArray *)shape
                           dataType:(MLMultiArrayDataType)dataType
                            strides:(NSArray *)strides
                        deallocator:(id)deallocator
                              error:(NSError **)error;
@end

@interface MLFeatureValue : NSObject {
    MLMultiArray *array;
}
@property (readonly, nonatomic) MLMultiArray *multiArrayValue;
+ (instancetype)featureValueWithMultiArray:(MLMultiArray *)value;
@end

@protocol MLFeatureProvider <NSObject>
@property (readonly, nonatomic) NSSet *featureNames;
- (MLFeatureValue *)featureValueForName:(NSString *)featureName;
@end

@interface MLPredictionOptions : NSObject
@end

@interface MLModel : NSObject {
    NSArray *words;
}
+ (MLModel *)modelWithContentsOfURL:(NSURL *)url configuration:(MLModelConfiguration *)configuration error:(NSError **)error;
- (id<MLFeatureProvider>)predictionFromFeatures:(id<MLFeatureProvider>)input options:(MLPredictionOptions *)options error:(NSError **)error;
@end
