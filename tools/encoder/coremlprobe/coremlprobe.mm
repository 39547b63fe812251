// coremlprobe predicts with Apple's Core ML as whisper.cpp's bridge does, and tells what the bridge keeps to itself.
//
//   coremlprobe REQUEST.json REPORT.json
//
// The bridge (src/coreml/whisper-encoder.mm) loads with error:nil, predicts with error:nil and copies
// count * sizeof(float) bytes from wherever the output lies. The probe makes the same calls with the same configuration
// and writes down: each attempt to load, in order, with what was asked and Core ML's error; the configuration, field by
// field, beside that of an untouched one; and of each output its type, shape, strides, whether it is contiguous and
// whether it shares memory with an input. Package tools/encoder/probe runs it, holds both files' formats, and judges the report.
//
// The report is written anew before every call into Core ML, so that a crash in there leaves "pending" where it happened.
// It exits 0 when it could write its report, whatever that says, and 2 otherwise. Never run on a Mac by this project's own
// CI; standintest runs it over a stand-in for the framework. It is compiled with ARC, and needs the SDK of macOS 15 (Xcode 16).

#import <CoreML/CoreML.h>
#import <Foundation/Foundation.h>

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <vector>

#if __APPLE__
#include <sys/sysctl.h>
#endif

namespace {

NSString *const kVersion = @"1";

struct ElementType {
    const char *name;
    NSInteger code;
    size_t size;
};

// The codes of MLMultiArrayDataType. Those that an SDK may lack stand as numbers.
const ElementType kTypes[] = {
    {"float32", 65568, 4}, {"float16", 65552, 2}, {"float64", 65600, 8}, {"int32", 131104, 4}, {"int8", 131080, 1},
};

struct Units {
    const char *name;
    MLComputeUnits value;
};

// What the bridge asks for, then less and less: what loads only further down is no load of the bridge's.
const Units kUnits[] = {
    {"all", MLComputeUnitsAll},
    {"cpu_and_neural_engine", MLComputeUnitsCPUAndNeuralEngine},
    {"cpu_and_gpu", MLComputeUnitsCPUAndGPU},
    {"cpu_only", MLComputeUnitsCPUOnly},
};

const ElementType *typeNamed(NSString *name) {
    for (const ElementType &t : kTypes) {
        if ([name isEqual:[NSString stringWithUTF8String:t.name]]) {
            return &t;
        }
    }
    return nullptr;
}

const ElementType *typeOf(NSInteger code) {
    for (const ElementType &t : kTypes) {
        if (t.code == code) {
            return &t;
        }
    }
    return nullptr;
}

NSString *unitsName(MLComputeUnits value) {
    for (const Units &u : kUnits) {
        if (u.value == value) {
            return [NSString stringWithUTF8String:u.name];
        }
    }
    return [NSString stringWithFormat:@"unknown (%ld)", (long)value];
}

// Plain messages, where the older runtimes that the check uses know no subscripts.
id get(NSDictionary *from, NSString *key) { return [from objectForKey:key]; }
id at(NSArray *from, NSUInteger i) { return [from objectAtIndex:i]; }
NSNumber *flag(bool value) { return [NSNumber numberWithBool:value]; }

id orNull(id value) { return value != nil ? value : [NSNull null]; }

// An NSError as the report holds it, with what lies under it.
id described(NSError *error) {
    if (error == nil) {
        return [NSNull null];
    }
    NSString *reason = [[error userInfo] objectForKey:NSLocalizedFailureReasonErrorKey];
    NSMutableArray *under = [NSMutableArray array];
    NSError *next = [[error userInfo] objectForKey:NSUnderlyingErrorKey];
    for (int depth = 0; next != nil && depth < 8; depth++) {
        [under addObject:[NSString stringWithFormat:@"%@ %ld: %@", [next domain], (long)[next code], [next localizedDescription]]];
        next = [[next userInfo] objectForKey:NSUnderlyingErrorKey];
    }
    return @{
        @"domain" : [error domain],
        @"code" : [NSString stringWithFormat:@"%ld", (long)[error code]],
        @"description" : orNull([error localizedDescription]),
        @"reason" : orNull(reason),
        @"underlying" : under,
    };
}

// As the bridge makes it: whisper_coreml_init sets this one field.
MLModelConfiguration *bridgeConfiguration(MLComputeUnits units) {
    MLModelConfiguration *config = [[MLModelConfiguration alloc] init];
    config.computeUnits = units;
    return config;
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

NSArray *configurationReport() {
    NSArray *asked = fieldsOf(bridgeConfiguration(MLComputeUnitsAll));
    NSArray *untouched = fieldsOf([[MLModelConfiguration alloc] init]);
    NSMutableArray *report = [NSMutableArray array];
    for (NSUInteger i = 0; i < [asked count]; i++) {
        [report addObject:@{ @"field" : at(at(asked, i), 0), @"value" : at(at(asked, i), 1), @"default" : at(at(untouched, i), 1) }];
    }
    return report;
}

NSString *systemString(const char *name) {
#if __APPLE__
    char value[256];
    size_t size = sizeof value;
    if (sysctlbyname(name, value, &size, nullptr, 0) == 0 && size > 0) {
        return [NSString stringWithUTF8String:value];
    }
#else
    (void)name;
#endif
    return @"unknown";
}

NSDictionary *hostReport() {
    return @{
        @"os_version" : systemString("kern.osproductversion"),
        @"os_build" : systemString("kern.osversion"),
        @"hardware" : systemString("hw.model"),
        @"chip" : systemString("machdep.cpu.brand_string"),
    };
}

}  // namespace

// What whisper_encoder_implInput is to the bridge, for any names.
@interface ProbeInput : NSObject <MLFeatureProvider> {
    NSDictionary *_arrays;
}
- (instancetype)initWithArrays:(NSDictionary *)arrays;
@end

@implementation ProbeInput

- (instancetype)initWithArrays:(NSDictionary *)arrays {
    self = [super init];
    if (self != nil) {
        _arrays = [arrays copy];
    }
    return self;
}

- (NSSet *)featureNames {
    return [NSSet setWithArray:[_arrays allKeys]];
}

- (MLFeatureValue *)featureValueForName:(NSString *)name {
    MLMultiArray *array = [_arrays objectForKey:name];
    return array == nil ? nil : [MLFeatureValue featureValueWithMultiArray:array];
}

@end

namespace {

struct Input {
    const uint8_t *begin;
    const uint8_t *end;
    NSData *before;
};

class Probe {
  public:
    Probe(NSDictionary *request, NSString *reportPath) : request_(request), path_(reportPath) {
        report_ = [[NSMutableDictionary alloc] init];
        attempts_ = [[NSMutableArray alloc] init];
        outputs_ = [[NSMutableArray alloc] init];
        set(@"schema", @1);
        set(@"version", kVersion);
        set(@"host", hostReport());
        set(@"configuration", configurationReport());
        set(@"attempts", attempts_);
        set(@"prediction", @{ @"result" : @"not_asked", @"error" : [NSNull null] });
        set(@"outputs", outputs_);
        set(@"features", @[]);
        set(@"inputs_unchanged", flag(true));
    }

    bool run() {
        MLModel *model = load();
        if (model != nil) {
            predict(model);
        }
        return !unusable_ && write();
    }

  private:
    bool write() {
        NSError *error = nil;
        NSData *data = [NSJSONSerialization dataWithJSONObject:report_ options:NSJSONWritingPrettyPrinted error:&error];
        if (data == nil || ![data writeToFile:path_ atomically:YES]) {
            fprintf(stderr, "coremlprobe: cannot write %s\n", [path_ UTF8String]);
            return false;
        }
        return true;
    }

    void set(NSString *key, id value) { [report_ setObject:value forKey:key]; }

    void attempt(NSString *route, NSString *asked, NSString *result, id error) {
        [attempts_ addObject:@{ @"route" : route, @"asked" : orNull(asked), @"result" : result, @"error" : error }];
    }

    // Why Core ML is not to be asked about a path at all: it may abort on what is no compiled model.
    NSString *unfit(NSString *path) {
        NSFileManager *files = [NSFileManager defaultManager];
        BOOL isFolder = NO;
        if (![files fileExistsAtPath:path isDirectory:&isFolder]) {
            return @"nothing is there";
        }
        if (!isFolder) {
            return @"it is a file, no folder";
        }
        BOOL inner = NO;
        if (![files fileExistsAtPath:[path stringByAppendingPathComponent:@"coremldata.bin"] isDirectory:&inner] || inner) {
            return @"it holds no coremldata.bin, so it is no compiled model";
        }
        return nil;
    }

    MLModel *load() {
        NSString *path = get(request_, @"model");
        NSString *why = unfit(path);
        if (why != nil) {
            attempt(@"path", nil, @"failed",
                    @{ @"domain" : @"coremlprobe", @"code" : @"0", @"description" : why, @"reason" : [NSNull null], @"underlying" : @[] });
            return nil;
        }
        NSURL *url = [NSURL fileURLWithPath:path];
        for (const Units &u : kUnits) {
            NSString *asked = [NSString stringWithUTF8String:u.name];
            attempt(@"modelWithContentsOfURL", asked, @"pending", [NSNull null]);
            if (!write()) {
                return nil;
            }
            NSError *error = nil;
            MLModel *model = [MLModel modelWithContentsOfURL:url configuration:bridgeConfiguration(u.value) error:&error];
            [attempts_ removeLastObject];
            attempt(@"modelWithContentsOfURL", asked, model == nil ? @"failed" : @"loaded", described(error));
            if (model != nil) {
                return model;
            }
        }
        return nil;
    }

    // Hands each input's bytes to Core ML where they lie, as the bridge does.
    NSDictionary *arrays() {
        NSMutableDictionary *arrays = [NSMutableDictionary dictionary];
        for (NSDictionary *in in get(request_, @"inputs")) {
            const ElementType *type = typeNamed(get(in, @"dtype"));
            NSMutableData *data = [[NSMutableData alloc] initWithContentsOfFile:get(in, @"file")];
            if (type == nullptr || data == nil) {
                fprintf(stderr, "coremlprobe: input %s: expected a known type and a file that can be read\n", [get(in, @"name") UTF8String]);
                unusable_ = true;
                return nil;
            }
            NSArray *shape = get(in, @"shape");
            NSArray *strides = get(in, @"strides");
            size_t last = 0;
            for (NSUInteger i = 0; i < [shape count]; i++) {
                last += ([at(shape, i) unsignedLongValue] - 1) * [at(strides, i) unsignedLongValue];
            }
            if ((last + 1) * type->size > [data length]) {
                fprintf(stderr, "coremlprobe: input %s: the file is shorter than shape and strides say\n", [get(in, @"name") UTF8String]);
                unusable_ = true;
                return nil;
            }
            NSError *error = nil;
            MLMultiArray *array = [[MLMultiArray alloc] initWithDataPointer:[data mutableBytes]
                                                                      shape:shape
                                                                   dataType:(MLMultiArrayDataType)type->code
                                                                    strides:strides
                                                                deallocator:nil
                                                                      error:&error];
            if (array == nil) {
                set(@"prediction", @{ @"result" : @"failed", @"error" : described(error) });
                return nil;
            }
            [arrays setObject:array forKey:get(in, @"name")];
            const uint8_t *begin = static_cast<const uint8_t *>([data bytes]);
            inputs_.push_back({begin, begin + [data length], [[NSData alloc] initWithBytes:begin length:[data length]]});
            kept_.push_back(data);
        }
        return arrays;
    }

    void predict(MLModel *model) {
        set(@"prediction", @{ @"result" : @"pending", @"error" : [NSNull null] });
        NSDictionary *in = arrays();
        if (in == nil || !write()) {
            return;
        }
        NSError *error = nil;
        id<MLFeatureProvider> features = [model predictionFromFeatures:[[ProbeInput alloc] initWithArrays:in]
                                                               options:[[MLPredictionOptions alloc] init]
                                                                 error:&error];
        set(@"prediction", @{ @"result" : features == nil ? @"failed" : @"predicted", @"error" : described(error) });
        for (const Input &i : inputs_) {
            if (memcmp(i.begin, [i.before bytes], [i.before length]) != 0) {
                set(@"inputs_unchanged", flag(false));
            }
        }
        if (features == nil) {
            return;
        }
        set(@"features", [[[features featureNames] allObjects] sortedArrayUsingSelector:@selector(compare:)]);
        for (NSDictionary *want in get(request_, @"outputs")) {
            MLMultiArray *array = [[features featureValueForName:get(want, @"name")] multiArrayValue];
            if (array != nil) {
                output(want, array);
            }
        }
    }

    void output(NSDictionary *want, MLMultiArray *array) {
        const ElementType *type = typeOf(array.dataType);
        NSArray *shape = array.shape;
        NSArray *strides = array.strides;
        size_t total = 1, last = 0, packed = 1;
        bool contiguous = true;
        for (NSUInteger i = [shape count]; i-- > 0;) {
            size_t extent = [at(shape, i) unsignedLongValue], stride = [at(strides, i) unsignedLongValue];
            // The stride of an axis of one element moves nothing.
            contiguous = contiguous && (extent == 1 || stride == packed);
            packed *= extent;
            total *= extent;
            last += (extent - 1) * stride;
        }
        const uint8_t *data = static_cast<const uint8_t *>(array.dataPointer);
        bool shares = false, written = false;
        if (type != nullptr && total > 0 && data != nullptr) {
            const uint8_t *end = data + (last + 1) * type->size;
            for (const Input &i : inputs_) {
                shares = shares || (data < i.end && i.begin < end);
            }
            written = gather(get(want, @"file"), shape, strides, type->size, total, data);
        }
        [outputs_ addObject:@{
            @"name" : get(want, @"name"),
            @"dtype" : type == nullptr ? @"unknown" : [NSString stringWithUTF8String:type->name],
            @"dtype_code" : @((long)array.dataType),
            @"shape" : shape,
            @"strides" : strides,
            @"count" : @((long)array.count),
            @"contiguous" : flag(contiguous),
            @"shares_input" : flag(shares),
            @"written" : flag(written),
        }];
    }

    // Writes the elements in row-major order, whatever their strides, bit for bit.
    bool gather(NSString *path, NSArray *shape, NSArray *strides, size_t size, size_t total, const uint8_t *data) {
        NSUInteger rank = [shape count];
        std::vector<size_t> extent(rank), stride(rank), index(rank, 0);
        for (NSUInteger i = 0; i < rank; i++) {
            extent[i] = [at(shape, i) unsignedLongValue];
            stride[i] = [at(strides, i) unsignedLongValue];
        }
        std::vector<uint8_t> packed(total * size);
        for (size_t n = 0; n < total; n++) {
            size_t from = 0;
            for (NSUInteger i = 0; i < rank; i++) {
                from += index[i] * stride[i];
            }
            memcpy(&packed[n * size], data + from * size, size);
            for (NSUInteger i = rank; i-- > 0;) {
                if (++index[i] < extent[i]) {
                    break;
                }
                index[i] = 0;
            }
        }
        FILE *f = fopen([path UTF8String], "wb");
        if (f == nullptr) {
            return false;
        }
        bool ok = fwrite(packed.data(), 1, packed.size(), f) == packed.size();
        return fclose(f) == 0 && ok;
    }

    NSDictionary *request_;
    NSString *path_;
    NSMutableDictionary *report_;
    NSMutableArray *attempts_;
    NSMutableArray *outputs_;
    std::vector<Input> inputs_;
    std::vector<NSMutableData *> kept_;
    bool unusable_ = false;  // the request, that is
};

}  // namespace

int main(int argc, char **argv) {
    @autoreleasepool {
        if (argc != 3) {
            fprintf(stderr, "usage: coremlprobe REQUEST.json REPORT.json\n");
            return 2;
        }
        NSString *path = [NSString stringWithUTF8String:argv[1]];
        NSData *data = [NSData dataWithContentsOfFile:path];
        NSError *error = nil;
        id request = data == nil ? nil : [NSJSONSerialization JSONObjectWithData:data options:0 error:&error];
        if (![request isKindOfClass:[NSDictionary class]] || ![get(request, @"schema") isEqual:@1]) {
            fprintf(stderr, "coremlprobe: %s: expected a request of schema 1\n", argv[1]);
            return 2;
        }
        Probe probe(request, [NSString stringWithUTF8String:argv[2]]);
        return probe.run() ? 0 : 2;
    }
}
