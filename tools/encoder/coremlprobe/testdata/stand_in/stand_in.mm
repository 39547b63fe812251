// A stand-in for the framework, for checks of coremlprobe on hosts without it. It computes nothing: what a model does
// is said by the file stand_in.txt in its folder, one word a line:
//
//   refuses UNITS   does not load for these (all, cpu_and_neural_engine, cpu_and_gpu, cpu_only)
//   aborts load | aborts predict
//   predicts nothing | predicts other (an output of another name)
//   type CODE       of the output, instead of float32
//   padded          rows of the output are eight elements longer in memory
//   shares          the output is the input's own memory
//   writes          the prediction changes its input
//
// Otherwise the one output "output" has the first input's shape, and its bytes.
#import <CoreML/CoreML.h>

#include <stdlib.h>
#include <string.h>

@implementation MLOptimizationHints
@synthesize reshapeFrequency, specializationStrategy;
@end

@implementation MLModelConfiguration
@synthesize computeUnits, allowLowPrecisionAccumulationOnGPU, preferredMetalDevice, parameters, optimizationHints, functionName;
- (instancetype)init {
    self = [super init];
    if (self != nil) {
        // Apple's default is all units too; this one differs, so that the check sees which were asked for.
        computeUnits = MLComputeUnitsCPUOnly;
        optimizationHints = [[MLOptimizationHints alloc] init];
    }
    return self;
}
@end

@implementation MLPredictionOptions
@end

@implementation MLMultiArray
@synthesize dataType, shape, strides, dataPointer;
- (instancetype)initWithDataPointer:(void *)pointer
                              shape:(NSArray *)s
                           dataType:(MLMultiArrayDataType)type
                            strides:(NSArray *)st
                        deallocator:(id)deallocator
                              error:(NSError **)error {
    (void)deallocator;
    self = [super init];
    if ([s count] > 5) {
        if (error != NULL) {
            *error = [NSError errorWithDomain:@"com.apple.CoreML" code:0 userInfo:@{NSLocalizedDescriptionKey : @"rank above 5"}];
        }
        return nil;
    }
    dataPointer = pointer;
    dataType = type;
    shape = [s copy];
    strides = [st copy];
    return self;
}
- (NSInteger)count {
    NSInteger n = 1;
    for (NSNumber *d in shape) {
        n *= [d integerValue];
    }
    return n;
}
@end

@implementation MLFeatureValue
+ (instancetype)featureValueWithMultiArray:(MLMultiArray *)value {
    MLFeatureValue *v = [[self alloc] init];
    v->array = [value retain];
    return v;
}
- (MLMultiArray *)multiArrayValue {
    return array;
}
@end

@interface Answer : NSObject <MLFeatureProvider> {
  @public
    NSString *name;
    MLMultiArray *array;
}
@end

@implementation Answer
- (NSSet *)featureNames {
    return [NSSet setWithObject:name];
}
- (MLFeatureValue *)featureValueForName:(NSString *)featureName {
    return [featureName isEqual:name] ? [MLFeatureValue featureValueWithMultiArray:array] : nil;
}
@end

@implementation MLModel

static BOOL says(NSArray *list, NSString *line) { return [list containsObject:line]; }

+ (MLModel *)modelWithContentsOfURL:(NSURL *)url configuration:(MLModelConfiguration *)configuration error:(NSError **)error {
    NSString *text = [NSString stringWithContentsOfFile:[[url path] stringByAppendingPathComponent:@"stand_in.txt"]
                                               encoding:NSUTF8StringEncoding
                                                  error:NULL];
    NSArray *list = [text componentsSeparatedByString:@"\n"];
    if (says(list, @"aborts load")) {
        abort();
    }
    NSString *units = [@[ @"cpu_only", @"cpu_and_gpu", @"all", @"cpu_and_neural_engine" ] objectAtIndex:configuration.computeUnits];
    if (says(list, [@"refuses " stringByAppendingString:units])) {
        NSError *under = [NSError errorWithDomain:@"com.apple.appleneuralengine"
                                             code:5
                                         userInfo:@{NSLocalizedDescriptionKey : @"ANECCompile() FAILED"}];
        *error = [NSError errorWithDomain:@"com.apple.CoreML"
                                     code:-14
                                 userInfo:@{
                                     NSLocalizedDescriptionKey : [@"Failed to build the model execution plan for " stringByAppendingString:units],
                                     NSUnderlyingErrorKey : under
                                 }];
        return nil;
    }
    MLModel *model = [[MLModel alloc] init];
    model->words = [list retain];
    return model;
}

- (id<MLFeatureProvider>)predictionFromFeatures:(id<MLFeatureProvider>)input options:(MLPredictionOptions *)options error:(NSError **)error {
    (void)options;
    if (says(words, @"aborts predict")) {
        abort();
    }
    if (says(words, @"predicts nothing")) {
        *error = [NSError errorWithDomain:@"com.apple.CoreML" code:0 userInfo:@{NSLocalizedDescriptionKey : @"MultiArray shape (1 x 80 x 1024) does not match"}];
        return nil;
    }
    MLMultiArray *in = [[input featureValueForName:[[input featureNames] anyObject]] multiArrayValue];
    NSUInteger rank = [in.shape count];
    size_t last = rank == 0 ? 1 : [[in.shape objectAtIndex:rank - 1] unsignedLongValue];
    size_t rows = last == 0 ? 0 : in.count / last, pad = says(words, @"padded") ? 8 : 0;
    NSMutableArray *strides = [NSMutableArray array];
    size_t step = 1;
    for (NSUInteger i = rank; i-- > 0;) {
        [strides insertObject:@(step) atIndex:0];
        step *= [[in.shape objectAtIndex:i] unsignedLongValue] + (i + 1 == rank ? pad : 0);
    }
    char *data = static_cast<char *>(calloc((rows + 1) * (last + pad), 8));
    for (size_t r = 0; r < rows; r++) {
        memcpy(data + 4 * r * (last + pad), static_cast<char *>(in.dataPointer) + 4 * r * last, 4 * last);
    }
    NSInteger type = MLMultiArrayDataTypeFloat32;
    for (NSString *line in words) {
        if ([line hasPrefix:@"type "]) {
            type = [[line substringFromIndex:5] integerValue];
        }
    }
    if (says(words, @"writes")) {
        static_cast<char *>(in.dataPointer)[0] ^= 1;
    }
    Answer *answer = [[Answer alloc] init];
    answer->name = says(words, @"predicts other") ? @"encoder_output_embeds" : @"output";
    answer->array = [[MLMultiArray alloc] initWithDataPointer:says(words, @"shares") ? in.dataPointer : data
                                                        shape:in.shape
                                                     dataType:static_cast<MLMultiArrayDataType>(type)
                                                      strides:strides
                                                  deallocator:nil
                                                        error:NULL];
    return answer;
}
@end
