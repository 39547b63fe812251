#import "tools/encoder/coremlprobe/repeat.h"

#import <CoreML/CoreML.h>

#import "tools/encoder/coremlprobe/configuration.h"
#import "tools/encoder/coremlprobe/provider.h"
#import "tools/encoder/coremlprobe/report.h"
#import "tools/encoder/coremlprobe/storage.h"
#import "tools/encoder/coremlprobe/tensor.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdio.h>
#include <string.h>
#include <vector>

namespace coreml_probe {

namespace {

using Bytes = std::vector<uint8_t>;

// How the probe itself was compiled: times of a program without optimisation are of that program.
NSString *buildMode() {
#ifdef NDEBUG
    return @"release";
#else
    return @"debug";
#endif
}

// Predictions that are under way at once. Core ML answers on threads of its own.
struct Flight {
    std::mutex lock;
    std::condition_variable landed;
    size_t flying = 0, most = 0, done = 0, failed = 0, differ = 0;

    void depart() {
        std::lock_guard<std::mutex> held(lock);
        most = std::max(most, ++flying);
    }
    void land(bool answered, bool differs) {
        std::lock_guard<std::mutex> held(lock);
        flying--;
        (answered ? done : failed)++;
        differ += differs ? 1 : 0;
        landed.notify_all();
    }
    void wait() {
        std::unique_lock<std::mutex> held(lock);
        landed.wait(held, [this] { return flying == 0; });
    }
};

class Repetition {
  public:
    Repetition(NSDictionary *request, NSString *reportPath) : request_(request), report_(reportPath) {
        cycles_ = [[NSMutableArray alloc] init];
        report_.hide(get(request, @"model"), @"<model>");
        report_.set(@"configuration", configurationReport());
        report_.set(@"build", buildMode());
        report_.set(@"framework", frameworkName());
        report_.set(@"inputs", @[]);
        report_.set(@"cycles", cycles_);
        report_.set(@"inputs_unchanged", flag(true));
        count();
    }

    bool run() {
        if (!readInputs()) {
            return false;
        }
        count();
        const size_t loads = number(@"loads");
        for (size_t i = 0; i < loads; i++) {
            @autoreleasepool {
                if (!cycle()) {
                    break;
                }
            }
            count();
            // What is left once the model is gone belongs to no prediction any more.
            [last_ setObject:@((unsigned long)residentBytes()) forKey:@"resident_bytes"];
            if (!report_.write()) {
                return false;
            }
        }
        for (size_t i = 0; i < storage_.size(); i++) {
            if (memcmp(storage_[i].data(), before_[i].data(), before_[i].size()) != 0) {
                report_.set(@"inputs_unchanged", flag(false));
            }
        }
        count();
        return keepFirst() && report_.write();
    }

  private:
    // Writes what the first set of inputs gave first, if a file is named for it and there is something to write.
    bool keepFirst() {
        NSString *path = get(request_, @"first");
        if (path == nil || [path length] == 0 || first_.empty() || first_[0].empty()) {
            return true;
        }
        FILE *f = fopen([path UTF8String], "wb");
        bool ok = f != nullptr && fwrite(first_[0].data(), 1, first_[0].size(), f) == first_[0].size();
        ok = f != nullptr && fclose(f) == 0 && ok;
        if (!ok) {
            fprintf(stderr, "coremlprobe: expected a file for the first outputs that can be written\n");
        }
        return ok;
    }

    size_t number(NSString *key) { return [get(request_, key) unsignedLongValue]; }

    void count() {
        report_.set(@"counters", @{
            @"direct_bindings" : @((unsigned long)counters().direct_bindings),
            @"copied_bytes" : @((unsigned long)counters().copied_bytes),
            @"allocations" : @((unsigned long)counters().allocations),
        });
    }

    // Each input has a file for each set of values. Storage of one input lies beside that of the next set.
    bool readInputs() {
        NSMutableArray *listed = [NSMutableArray array];
        for (NSDictionary *in in get(request_, @"inputs")) {
            const ElementType *type = typeNamed(get(in, @"dtype"));
            NSArray *files = get(in, @"files");
            if (type == nullptr || [files count] == 0 || (sets_ != 0 && [files count] != sets_)) {
                fprintf(stderr, "coremlprobe: input %zu: expected a known type and as many files as the others have\n", [listed count]);
                return false;
            }
            sets_ = [files count];
            for (NSString *file in files) {
                Storage s;
                if (!s.read(file) || s.size() < extentBytes(get(in, @"shape"), get(in, @"strides"), type->size)) {
                    fprintf(stderr, "coremlprobe: input %zu: expected a file that can be read and holds what shape and strides say\n", [listed count]);
                    return false;
                }
                before_.push_back(Bytes(s.data(), s.data() + s.size()));
                storage_.push_back(std::move(s));
            }
            const Storage &last = storage_.back();
            [listed addObject:@{
                @"bytes" : @((unsigned long)last.size()),
                @"alignment" : @((unsigned long)alignmentFor(last.size())),
                @"aligned" : flag(alignedInputs(type->size)),
            }];
        }
        report_.set(@"inputs", listed);
        if (sets_ == 0 || number(@"predictions") < sets_) {
            fprintf(stderr, "coremlprobe: expected inputs, and at least as many predictions as there are sets of them\n");
            return false;
        }
        return true;
    }

    // Whether the storage of the input that was read last begins where it should, which every offset of its elements follows.
    bool alignedInputs(size_t element) {
        bool ok = true;
        for (size_t i = storage_.size() - sets_; i < storage_.size(); i++) {
            const uintptr_t at = reinterpret_cast<uintptr_t>(storage_[i].data());
            ok = ok && at % alignmentFor(storage_[i].size()) == 0 && at % element == 0;
        }
        return ok;
    }

    // A set of inputs over the storage itself. Nil, with the error, where Core ML takes no such array.
    ProbeInput *bound(size_t set, NSError *__autoreleasing *error) {
        NSMutableDictionary *arrays = [NSMutableDictionary dictionary];
        size_t i = 0;
        for (NSDictionary *in in get(request_, @"inputs")) {
            MLMultiArray *array = [[MLMultiArray alloc] initWithDataPointer:storage_[i * sets_ + set].data()
                                                                      shape:get(in, @"shape")
                                                                   dataType:(MLMultiArrayDataType)typeNamed(get(in, @"dtype"))->code
                                                                    strides:get(in, @"strides")
                                                                deallocator:nil
                                                                      error:error];
            if (array == nil) {
                return nil;
            }
            counters().direct_bindings++;
            [arrays setObject:array forKey:get(in, @"name")];
            i++;
        }
        return [[ProbeInput alloc] initWithArrays:arrays];
    }

    // The outputs that are asked for, one after the other. Empty where one is missing or has a type that is not exchanged.
    Bytes taken(id<MLFeatureProvider> features) {
        Bytes all;
        for (NSDictionary *want in get(request_, @"outputs")) {
            MLMultiArray *array = [[features featureValueForName:get(want, @"name")] multiArrayValue];
            Bytes one = array == nil ? Bytes() : gathered(array);
            if (one.empty()) {
                return Bytes();
            }
            all.insert(all.end(), one.begin(), one.end());
        }
        counted(all.size());
        return all;
    }

    void counted(size_t bytes) {
        std::lock_guard<std::mutex> held(counting_);
        counters().copied_bytes += bytes;
    }

    // One load, many predictions, then as many at once as are asked for. False where it did not load, so that nothing follows.
    bool cycle() {
        last_ = [NSMutableDictionary dictionaryWithDictionary:@{
            @"load" : @"pending",
            @"error" : [NSNull null],
            @"predicted" : @0,
            @"failed" : @0,
            @"differ" : @0,
            @"overlapped" : overlapped(@"not_asked", Flight()),
            @"nanoseconds" : @[],
            @"resident_bytes" : @0,
        }];
        [cycles_ addObject:last_];
        if (!report_.write()) {
            return false;
        }
        NSError *error = nil;
        NSURL *url = [NSURL fileURLWithPath:get(request_, @"model")];
        NSString *why = unfit(get(request_, @"model"));
        MLModel *model = why != nil ? nil : [MLModel modelWithContentsOfURL:url configuration:bridgeConfiguration(MLComputeUnitsAll) error:&error];
        [last_ setObject:model == nil ? @"failed" : @"loaded" forKey:@"load"];
        [last_ setObject:why != nil ? ownError(why) : described(error) forKey:@"error"];
        if (model == nil) {
            return false;
        }
        size_t predicted = 0, failed = 0, differ = 0;
        NSMutableArray *nanoseconds = [NSMutableArray array];
        const bool timed = number(@"time") != 0;
        for (size_t i = 0; i < number(@"predictions"); i++) {
            @autoreleasepool {
                NSError *why = nil;
                ProbeInput *in = bound(i % sets_, &why);
                MLPredictionOptions *options = [[MLPredictionOptions alloc] init];
                const auto began = std::chrono::steady_clock::now();
                id<MLFeatureProvider> features = in == nil ? nil : [model predictionFromFeatures:in options:options error:&why];
                const auto took = std::chrono::steady_clock::now() - began;
                Bytes bytes = features == nil ? Bytes() : taken(features);
                (bytes.empty() ? failed : predicted)++;
                if (timed && !bytes.empty()) {
                    [nanoseconds addObject:@((unsigned long)std::max<long long>(1, std::chrono::duration_cast<std::chrono::nanoseconds>(took).count()))];
                }
                differ += bytes.empty() || same(i % sets_, bytes) ? 0 : 1;
                if (bytes.empty()) {
                    [last_ setObject:described(why) forKey:@"error"];
                }
            }
        }
        [last_ setObject:@((unsigned long)predicted) forKey:@"predicted"];
        [last_ setObject:@((unsigned long)failed) forKey:@"failed"];
        [last_ setObject:@((unsigned long)differ) forKey:@"differ"];
        [last_ setObject:nanoseconds forKey:@"nanoseconds"];
        overlap(model);
        return true;
    }

    // Whether bytes are what the same inputs gave first.
    bool same(size_t set, const Bytes &bytes) {
        if (first_.size() < sets_) {
            first_.resize(sets_);
        }
        if (first_[set].empty()) {
            first_[set] = bytes;
        }
        return first_[set] == bytes;
    }

    NSDictionary *overlapped(NSString *state, const Flight &f) {
        return @{
            @"state" : state,
            @"most" : @((unsigned long)f.most),
            @"predicted" : @((unsigned long)f.done),
            @"failed" : @((unsigned long)f.failed),
            @"differ" : @((unsigned long)f.differ),
        };
    }

    // Several predictions of one model under way at once, each with arrays of its own over the same inputs, which none may change.
    void overlap(MLModel *model) {
        const size_t n = number(@"overlap");
        if (n == 0) {
            return;
        }
        if (@available(macOS 14.0, *)) {
            Flight flight;
            Flight *shared = &flight;  // it stays until the last prediction has landed
            [last_ setObject:overlapped(@"pending", flight) forKey:@"overlapped"];
            report_.write();
            for (size_t i = 0; i < n; i++) {
                const size_t set = i % sets_;
                NSError *why = nil;
                ProbeInput *in = bound(set, &why);
                flight.depart();
                if (in == nil) {
                    flight.land(false, false);
                    continue;
                }
                [model predictionFromFeatures:in
                                      options:[[MLPredictionOptions alloc] init]
                            completionHandler:^(id<MLFeatureProvider> features, NSError *error) {
                                (void)error;
                                Bytes bytes = features == nil ? Bytes() : this->taken(features);
                                shared->land(!bytes.empty(), !bytes.empty() && bytes != this->first_[set]);
                            }];
            }
            flight.wait();
            [last_ setObject:overlapped(@"asked", flight) forKey:@"overlapped"];
        } else {
            [last_ setObject:overlapped(@"not_available", Flight()) forKey:@"overlapped"];
        }
    }

    NSDictionary *request_;
    Report report_;
    NSMutableArray *cycles_;
    NSMutableDictionary *last_;
    size_t sets_ = 0;
    std::vector<Storage> storage_;  // input by input, set by set
    std::vector<Bytes> before_;
    std::vector<Bytes> first_;  // by set
    std::mutex counting_;
};

}  // namespace

bool repeat(NSDictionary *request, NSString *reportPath) { return Repetition(request, reportPath).run(); }

}  // namespace coreml_probe
