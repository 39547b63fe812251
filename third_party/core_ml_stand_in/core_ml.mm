// A stand-in for Apple's CoreML framework on hosts without it: what the header beside it declares, over the evaluator that the
// emulated lane's double uses too. So upstream's own bridge and coremlprobe run here, and only Apple's part is emulated.
//
// It takes a model's path to our evaluator (third_party/whisper_cpp/double/evaluator.h), which loads it, predicts, and brings the
// faults about that COREML_GATE_DOUBLE_FAULT names. COREML_GATE_STAND_IN names what the framework itself does wrong, for checks of
// coremlprobe, separated by blanks; an unknown word fails the load:
//
//   refuses-UNITS   does not load for these (all, cpu-and-neural-engine, cpu-and-gpu, cpu-only)
//   aborts-load, aborts-predict
//   no-error        fails without an NSError
//   shares-input    the output lies in the input's memory
//   writes-input    the prediction changes its input
//   refuses-reload  loads once in a process and never again
//   keeps-memory    64 MiB of every load are never given back
//   drifts          each prediction of one load but the first differs from the one before
//   mixes-overlap   predictions that overlap answer the first one's input
//   names-path      an error names the model's path
//   type-CODE       the output says that it is of this type
//   no-neural-engine, plan-…   compute_plan.mm
//   tells           nothing is wrong: a line says what each load and each prediction was asked for
//
// As Apple documents: an NSError is written only where the caller has room for it; an output belongs to the feature provider,
// and its memory goes with it; a feature that is not there is nil.
#import <CoreML/CoreML.h>

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "third_party/core_ml_stand_in/faults.h"
#include "third_party/core_ml_stand_in/flight.h"
#include "third_party/whisper_cpp/double/evaluator.h"

using coreml_gate::Evaluator;
using coreml_gate::MultiArray;
using coreml_gate::Outcome;
using coreml_gate::one_line;
using core_ml_stand_in::asked;
using core_ml_stand_in::asks;
using core_ml_stand_in::fail;
using core_ml_stand_in::logLine;
using core_ml_stand_in::string;
using core_ml_stand_in::unknownWord;

namespace {

NSString *const kInput = @"logmel_data";

// An exception that nobody catches ends the process by SIGABRT, as on a Mac. GNUstep would exit with 1.
void uncaught(NSException *exception) {
    logLine("coreml_stand_in: uncaught exception: " + one_line([[exception reason] UTF8String]));
    abort();
}

__attribute__((constructor)) void setUp() { NSSetUncaughtExceptionHandler(uncaught); }

[[noreturn]] void raise(const std::string &why) {
    @throw [NSException exceptionWithName:NSGenericException reason:[NSString stringWithUTF8String:why.c_str()] userInfo:nil];
}

NSArray *numbers(const std::vector<uint64_t> &values) {
    NSMutableArray *made = [NSMutableArray array];
    for (uint64_t v : values) {
        [made addObject:[NSNumber numberWithUnsignedLongLong:v]];
    }
    return made;
}

size_t sizeAt(NSArray *list, NSUInteger i) { return size_t([[list objectAtIndex:i] unsignedLongLongValue]); }

// Whether an array is rows of [1, m, n] without gaps.
bool contiguous(MLMultiArray *array) {
    size_t step = 1;
    for (NSUInteger i = [array.shape count]; i-- > 0;) {
        if (sizeAt(array.shape, i) != 1 && sizeAt(array.strides, i) != step) {
            return false;
        }
        step *= sizeAt(array.shape, i);
    }
    return true;
}

}  // namespace

@implementation MLMultiArray {
    // What a prediction returned, whose memory this array owns; null for an array over someone else's memory.
    std::unique_ptr<MultiArray> _owned;
    void (^_deallocator)(void *);
}
@synthesize dataType, shape, strides, dataPointer;

- (instancetype)initWithDataPointer:(void *)pointer
                              shape:(NSArray *)itsShape
                           dataType:(MLMultiArrayDataType)type
                            strides:(NSArray *)itsStrides
                        deallocator:(void (^)(void *))deallocator
                              error:(NSError *__autoreleasing *)error {
    self = [super init];
    if (self == nil) {
        return nil;
    }
    if ([itsShape count] != [itsStrides count] || [itsShape count] > 5) {
        fail(error, 0, @"a shape and strides of one rank, at most 5, are needed", nil);
        return nil;
    }
    dataPointer = pointer;
    dataType = type;
    shape = [itsShape copy];
    strides = [itsStrides copy];
    _deallocator = [deallocator copy];
    return self;
}

- (instancetype)initWithPrediction:(std::unique_ptr<MultiArray>)prediction {
    self = [super init];
    if (self != nil) {
        dataPointer = prediction->data.get();
        dataType = static_cast<MLMultiArrayDataType>(prediction->dtype);
        shape = numbers(prediction->shape);
        strides = numbers(prediction->strides);
        _owned = std::move(prediction);
    }
    return self;
}

- (void)dealloc {
    if (_deallocator != nil) {
        _deallocator(dataPointer);
    }
}

- (NSInteger)count {
    NSInteger n = 1;
    for (NSNumber *extent in shape) {
        n *= [extent integerValue];
    }
    return n;
}
@end

@implementation MLFeatureValue
@synthesize multiArrayValue;

+ (instancetype)featureValueWithMultiArray:(MLMultiArray *)value {
    MLFeatureValue *made = [[self alloc] init];
    made->multiArrayValue = value;
    return made;
}
@end

// What a prediction returns: one output.
@interface CoreMLGateOutput : NSObject <MLFeatureProvider>
@end

@implementation CoreMLGateOutput {
    NSString *_name;
    MLMultiArray *_array;
}

- (instancetype)initWithName:(NSString *)name array:(MLMultiArray *)array {
    self = [super init];
    if (self != nil) {
        _name = [name copy];
        _array = array;
    }
    return self;
}

- (NSSet *)featureNames {
    return [NSSet setWithObject:_name];
}

- (MLFeatureValue *)featureValueForName:(NSString *)name {
    return [name isEqual:_name] ? [MLFeatureValue featureValueWithMultiArray:_array] : nil;
}
@end

@implementation MLArrayBatchProvider {
    NSArray *_providers;
}

- (instancetype)initWithFeatureProviderArray:(NSArray *)array {
    self = [super init];
    if (self != nil) {
        _providers = [array copy];
    }
    return self;
}

- (NSInteger)count {
    return NSInteger([_providers count]);
}

- (id<MLFeatureProvider>)featuresAtIndex:(NSInteger)index {
    return [_providers objectAtIndex:NSUInteger(index)];
}
@end

namespace {

// Every field of a configuration.
std::string told(MLModelConfiguration *c) {
    return one_line([[NSString stringWithFormat:@"units %ld, low precision %d, device %@, parameters %@, function %@, reshape %ld, specialization %ld",
                                                (long)c.computeUnits, int(c.allowLowPrecisionAccumulationOnGPU), c.preferredMetalDevice, c.parameters,
                                                c.functionName, (long)c.optimizationHints.reshapeFrequency, (long)c.optimizationHints.specializationStrategy]
        UTF8String]);
}

// Every feature, with its array's type, shape and strides.
std::string told(id<MLFeatureProvider> features) {
    std::string text;
    for (NSString *name in [[features.featureNames allObjects] sortedArrayUsingSelector:@selector(compare:)]) {
        MLMultiArray *array = [[features featureValueForName:name] multiArrayValue];
        NSString *one = [NSString stringWithFormat:@"%@: type %ld, shape %@, strides %@", name, (long)array.dataType,
                                                   [array.shape componentsJoinedByString:@","], [array.strides componentsJoinedByString:@","]];
        text += (text.empty() ? "" : "; ") + std::string([one UTF8String]);
    }
    return one_line(text);
}

}  // namespace

@implementation MLModel {
    std::unique_ptr<Evaluator> _evaluator;
    std::mutex _one;  // the evaluator answers one question at a time, and it guards the counts
    // Predictions that were asked for, and those of them that returned none. The double counts the same.
    uint64_t _predictions;
    uint64_t _failed;
    id _firstInput;
}

- (void)dealloc {
    logLine("coreml_stand_in: " + std::to_string(_predictions) + " predictions, " + std::to_string(_failed) + " failed");
}

+ (instancetype)modelWithContentsOfURL:(NSURL *)url error:(NSError *__autoreleasing *)error {
    return [self modelWithContentsOfURL:url configuration:[[MLModelConfiguration alloc] init] error:error];
}

+ (instancetype)modelWithContentsOfURL:(NSURL *)url configuration:(MLModelConfiguration *)configuration error:(NSError *__autoreleasing *)error {
    logLine("coreml_stand_in: version 2, protocol 1, fault " + coreml_gate::fault_name());
    static size_t loads = 0;
    const std::string path = [[url path] fileSystemRepresentation];
    if (asks(@"tells")) {
        logLine("coreml_stand_in: asked to load for " + told(configuration));
    }
    std::string why;
    NSError *under = nil;
    std::unique_ptr<Evaluator> evaluator;
    NSString *units = [@[ @"cpu-only", @"cpu-and-gpu", @"all", @"cpu-and-neural-engine" ] objectAtIndex:NSUInteger(configuration.computeUnits)];
    if (NSString *word = unknownWord()) {
        why = std::string("COREML_GATE_STAND_IN names ") + [word UTF8String] + ", which the stand-in does not know";
    } else if (asks(@"aborts-load")) {
        abort();
    } else if (loads > 0 && asks(@"refuses-reload")) {
        why = "The model was loaded before";
    } else if (asks([@"refuses-" stringByAppendingString:units])) {
        why = std::string("Failed to build the model execution plan for ") + [units UTF8String];
        under = [NSError errorWithDomain:@"com.apple.appleneuralengine" code:5 userInfo:@{NSLocalizedDescriptionKey : @"ANECCompile() FAILED"}];
    } else {
        switch (Evaluator::start(path.c_str(), evaluator, why)) {
            case Outcome::kRaises:
                raise(why);
            case Outcome::kDone:
            case Outcome::kFailed:
                break;
        }
    }
    if (evaluator == nullptr) {
        logLine("coreml_stand_in: cannot load '" + one_line(path) + "': " + one_line(why));
        if (asks(@"names-path")) {
            why += " (reading \"" + path + "\", file://" + path + "/coremldata.bin)";
        }
        fail(error, under == nil ? 0 : -14, string(why), under);
        return nil;
    }
    if (!evaluator->greeting().empty()) {
        logLine("coreml_stand_in: ready, " + one_line(evaluator->greeting()));
    }
    loads++;
    if (asks(@"keeps-memory")) {
        static std::vector<std::string> kept;
        kept.emplace_back(size_t(64) << 20, char(loads));
    }
    MLModel *model = [[self alloc] init];
    model->_evaluator = std::move(evaluator);
    return model;
}

// Calls back at once, on the caller's thread. Apple's calls back on another.
+ (void)loadContentsOfURL:(NSURL *)url
            configuration:(MLModelConfiguration *)configuration
        completionHandler:(__unsafe_unretained void (^)(MLModel *, NSError *))handler {
    NSError *error = nil;
    MLModel *model = [self modelWithContentsOfURL:url configuration:configuration error:&error];
    handler(model, error);
}

- (id<MLFeatureProvider>)predictionFromFeatures:(id<MLFeatureProvider>)input error:(NSError *__autoreleasing *)error {
    return [self predictionFromFeatures:input options:[[MLPredictionOptions alloc] init] error:error];
}

- (id<MLFeatureProvider>)predictionFromFeatures:(id<MLFeatureProvider>)input
                                        options:(MLPredictionOptions *)options
                                          error:(NSError *__autoreleasing *)error {
    (void)options;
    if (asks(@"tells")) {
        logLine("coreml_stand_in: asked to predict " + told(input));
    }
    if (asks(@"aborts-predict")) {
        abort();
    }
    std::lock_guard<std::mutex> held(_one);
    _predictions++;
    MLMultiArray *mel = [[input featureValueForName:kInput] multiArrayValue];
    std::unique_ptr<MultiArray> output(new MultiArray);
    std::string why;
    if (![self evaluate:mel into:*output why:why]) {
        _failed++;
        logLine("coreml_stand_in: prediction failed: " + one_line(why));
        fail(error, 0, string(why), nil);
        return nil;
    }
    for (NSString *code in asked(@"type-")) {
        output->dtype = uint32_t([code integerValue]);
    }
    if (_predictions > 1 && asks(@"drifts") && output->n_bytes > 0) {
        output->data[0] ^= static_cast<unsigned char>(_predictions);
    }
    if (asks(@"writes-input")) {
        static_cast<char *>(mel.dataPointer)[0] ^= 1;
    }
    NSString *name = string(output->feature);
    if (asks(@"shares-input")) {
        return [[CoreMLGateOutput alloc] initWithName:name array:mel];
    }
    return [[CoreMLGateOutput alloc] initWithName:name array:[[MLMultiArray alloc] initWithPrediction:std::move(output)]];
}

// Hands one mel to the evaluator. It takes [1, bands, frames] of float32 without gaps, as the bridge lays it out.
- (bool)evaluate:(MLMultiArray *)mel into:(MultiArray &)output why:(std::string &)why {
    if (mel == nil || mel.dataType != MLMultiArrayDataTypeFloat32 || [mel.shape count] != 3 || sizeAt(mel.shape, 0) != 1 || !contiguous(mel)) {
        why = "expected the feature logmel_data, float32 [1, bands, frames] without gaps";
        return false;
    }
    const int64_t bands = [[mel.shape objectAtIndex:1] longLongValue], frames = [[mel.shape objectAtIndex:2] longLongValue];
    const Outcome outcome = _evaluator->predict(bands, frames, static_cast<const float *>(mel.dataPointer), output, why);
    if (outcome == Outcome::kRaises) {
        raise(why);
    }
    return outcome == Outcome::kDone;
}

- (void)predictionFromFeatures:(id<MLFeatureProvider>)input
                       options:(MLPredictionOptions *)options
             completionHandler:(__unsafe_unretained void (^)(id<MLFeatureProvider>, NSError *))completionHandler {
    if (_firstInput == nil) {
        _firstInput = input;
    }
    CoreMLGateFlight *flight = [[CoreMLGateFlight alloc] initWithModel:self
                                                                 input:asks(@"mixes-overlap") ? _firstInput : input
                                                               options:options
                                                               handler:(__bridge const void *)completionHandler];
    [NSThread detachNewThreadSelector:@selector(fly) toTarget:flight withObject:nil];
}

- (id<MLBatchProvider>)predictionsFromBatch:(id<MLBatchProvider>)batch
                                    options:(MLPredictionOptions *)options
                                      error:(NSError *__autoreleasing *)error {
    NSMutableArray *results = [NSMutableArray array];
    for (NSInteger i = 0; i < batch.count; i++) {
        id<MLFeatureProvider> one = [self predictionFromFeatures:[batch featuresAtIndex:i] options:options error:error];
        if (one == nil) {
            return nil;
        }
        [results addObject:one];
    }
    return [[MLArrayBatchProvider alloc] initWithFeatureProviderArray:results];
}
@end
