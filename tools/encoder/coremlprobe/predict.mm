#import "tools/encoder/coremlprobe/predict.h"

#import "tools/encoder/coremlprobe/configuration.h"
#import "tools/encoder/coremlprobe/provider.h"
#import "tools/encoder/coremlprobe/report.h"
#import "tools/encoder/coremlprobe/storage.h"
#import "tools/encoder/coremlprobe/tensor.h"

#include <stdio.h>
#include <string.h>
#include <vector>

namespace coreml_probe {

namespace {

class Prediction {
  public:
    Prediction(NSDictionary *request, NSString *reportPath) : request_(request), report_(reportPath) {
        attempts_ = [[NSMutableArray alloc] init];
        outputs_ = [[NSMutableArray alloc] init];
        report_.hide(get(request, @"model"), @"<model>");
        report_.set(@"configuration", configurationReport());
        report_.set(@"attempts", attempts_);
        report_.set(@"prediction", @{ @"result" : @"not_asked", @"error" : [NSNull null] });
        report_.set(@"outputs", outputs_);
        report_.set(@"features", @[]);
        report_.set(@"inputs_unchanged", flag(true));
    }

    bool run() {
        MLModel *model = load();
        if (model != nil) {
            ask(model);
        }
        return !unusable_ && report_.write();
    }

  private:
    void attempt(NSString *route, NSString *asked, NSString *result, id error) {
        [attempts_ addObject:@{ @"route" : route, @"asked" : orNull(asked), @"result" : result, @"error" : error }];
    }

    MLModel *load() {
        NSString *path = get(request_, @"model");
        NSString *why = unfit(path);
        if (why != nil) {
            attempt(@"path", nil, @"failed", ownError(why));
            return nil;
        }
        NSURL *url = [NSURL fileURLWithPath:path];
        for (size_t i = 0; i < kUnitsCount; i++) {
            NSString *asked = [NSString stringWithUTF8String:kUnits[i].name];
            attempt(@"modelWithContentsOfURL", asked, @"pending", [NSNull null]);
            if (!report_.write()) {
                return nil;
            }
            NSError *error = nil;
            MLModel *model = [MLModel modelWithContentsOfURL:url configuration:bridgeConfiguration(kUnits[i].value) error:&error];
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
            Storage data;
            if (type == nullptr || !data.read(get(in, @"file")) || data.size() < extentBytes(get(in, @"shape"), get(in, @"strides"), type->size)) {
                fprintf(stderr, "coremlprobe: input %zu: expected a known type and a file that can be read and holds what shape and strides say\n", inputs_.size());
                unusable_ = true;
                return nil;
            }
            NSError *error = nil;
            MLMultiArray *array = [[MLMultiArray alloc] initWithDataPointer:data.data()
                                                                      shape:get(in, @"shape")
                                                                   dataType:(MLMultiArrayDataType)type->code
                                                                    strides:get(in, @"strides")
                                                                deallocator:nil
                                                                      error:&error];
            if (array == nil) {
                report_.set(@"prediction", @{ @"result" : @"failed", @"error" : described(error) });
                return nil;
            }
            counters().direct_bindings++;
            [arrays setObject:array forKey:get(in, @"name")];
            inputs_.push_back({data.data(), data.data() + data.size()});
            before_.push_back([[NSData alloc] initWithBytes:data.data() length:data.size()]);
            kept_.push_back(std::move(data));
        }
        return arrays;
    }

    // The outputs by the names that the request gave. What it did not ask for is counted and not named.
    NSArray *asked(id<MLFeatureProvider> features) {
        NSMutableArray *names = [NSMutableArray array];
        NSMutableSet *all = [NSMutableSet setWithSet:[features featureNames]];
        for (NSDictionary *want in get(request_, @"outputs")) {
            if ([all containsObject:get(want, @"name")]) {
                [names addObject:get(want, @"name")];
                [all removeObject:get(want, @"name")];
            }
        }
        for (NSUInteger i = 1; i <= [all count]; i++) {
            [names addObject:[NSString stringWithFormat:@"<other %lu>", (unsigned long)i]];
        }
        return names;
    }

    void ask(MLModel *model) {
        report_.set(@"prediction", @{ @"result" : @"pending", @"error" : [NSNull null] });
        NSDictionary *in = arrays();
        if (in == nil || !report_.write()) {
            return;
        }
        NSError *error = nil;
        id<MLFeatureProvider> features = [model predictionFromFeatures:[[ProbeInput alloc] initWithArrays:in]
                                                               options:[[MLPredictionOptions alloc] init]
                                                                 error:&error];
        report_.set(@"prediction", @{ @"result" : features == nil ? @"failed" : @"predicted", @"error" : described(error) });
        for (size_t i = 0; i < inputs_.size(); i++) {
            if (memcmp(inputs_[i].begin, [before_[i] bytes], [before_[i] length]) != 0) {
                report_.set(@"inputs_unchanged", flag(false));
            }
        }
        if (features == nil) {
            return;
        }
        report_.set(@"features", asked(features));
        for (NSDictionary *want in get(request_, @"outputs")) {
            MLMultiArray *array = [[features featureValueForName:get(want, @"name")] multiArrayValue];
            if (array != nil) {
                [outputs_ addObject:outputReport(get(want, @"name"), get(want, @"file"), array, inputs_)];
            }
        }
    }

    NSDictionary *request_;
    Report report_;
    NSMutableArray *attempts_;
    NSMutableArray *outputs_;
    std::vector<Memory> inputs_;
    std::vector<NSData *> before_;
    std::vector<Storage> kept_;
    bool unusable_ = false;  // the request, that is
};

}  // namespace

bool predict(NSDictionary *request, NSString *reportPath) { return Prediction(request, reportPath).run(); }

}  // namespace coreml_probe
