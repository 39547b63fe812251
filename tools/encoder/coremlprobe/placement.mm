#import "tools/encoder/coremlprobe/placement.h"

#import <CoreML/CoreML.h>

#import "tools/encoder/coremlprobe/configuration.h"
#import "tools/encoder/coremlprobe/report.h"

#include <condition_variable>
#include <mutex>

namespace coreml_probe {

namespace {

NSString *const kDevicesNeed = @"MLAllComputeDevices needs macOS 14.0";
NSString *const kPlanNeeds = @"MLComputePlan needs macOS 14.4";

// The kinds of device that Core ML has. A class that the SDK does not have is "unknown".
API_AVAILABLE(macos(14.0)) NSString *kindOf(id<MLComputeDeviceProtocol> device) {
    if ([(id)device isKindOfClass:[MLNeuralEngineComputeDevice class]]) {
        return @"neural_engine";
    }
    if ([(id)device isKindOfClass:[MLGPUComputeDevice class]]) {
        return @"gpu";
    }
    return [(id)device isKindOfClass:[MLCPUComputeDevice class]] ? @"cpu" : @"unknown";
}

API_AVAILABLE(macos(14.0)) NSArray *deviceList() {
    NSMutableArray *list = [NSMutableArray array];
    for (id<MLComputeDeviceProtocol> device in MLAllComputeDevices()) {
        NSString *kind = kindOf(device);
        id cores = [kind isEqual:@"neural_engine"] ? (id)@((long)[(MLNeuralEngineComputeDevice *)device totalCoreCount]) : (id)[NSNull null];
        [list addObject:@{ @"kind" : kind, @"cores" : cores }];
    }
    return list;
}

// What a completion handler leaves, possibly on another thread.
struct API_AVAILABLE(macos(14.4)) Answer {
    std::mutex mutex;
    std::condition_variable told;
    bool done = false;
    MLComputePlan *plan = nil;
    NSError *error = nil;
};

class PlanReader {
  public:
    explicit PlanReader(NSString *reportPath) : report_(reportPath) {
        operations_ = [[NSMutableArray alloc] init];
        report_.set(@"mode", @"plan");
        report_.set(@"framework", frameworkName());
        report_.set(@"devices", @[]);
        report_.set(@"units", @"all");
        report_.set(@"model_kind", @"unknown");
        report_.set(@"operations", operations_);
        result(@"pending", [NSNull null]);
    }

    bool run(NSString *modelPath) {
        NSString *why = unfit(modelPath);
        if (why != nil) {
            result(@"not_asked", ownError(why));
            return report_.write();
        }
        if (@available(macOS 14.4, *)) {
            if ([MLComputePlan respondsToSelector:@selector(loadContentsOfURL:configuration:completionHandler:)]) {
                return ask(modelPath) && report_.write();
            }
        }
        result(@"not_observed", ownError(kPlanNeeds));
        return report_.write();
    }

  private:
    void result(NSString *result, id error) {
        report_.set(@"result", result);
        report_.set(@"error", error);
    }

    API_AVAILABLE(macos(14.4)) bool ask(NSString *modelPath) {
        report_.set(@"devices", deviceList());
        // The reader may abort the process: what is written here stays.
        if (!report_.write()) {
            return false;
        }
        Answer answer;
        Answer *to = &answer;
        [MLComputePlan loadContentsOfURL:[NSURL fileURLWithPath:modelPath]
                           configuration:bridgeConfiguration(MLComputeUnitsAll)
                       completionHandler:^(MLComputePlan *plan, NSError *error) {
                           std::lock_guard<std::mutex> lock(to->mutex);
                           to->plan = plan;
                           to->error = error;
                           to->done = true;
                           to->told.notify_all();
                       }];
        // No deadline here: whoever started the probe has one.
        std::unique_lock<std::mutex> lock(answer.mutex);
        while (!answer.done) {
            answer.told.wait(lock);
        }
        if (answer.plan == nil) {
            result(@"failed", described(answer.error));
            return true;
        }
        walk(answer.plan);
        return true;
    }

    API_AVAILABLE(macos(14.4)) void walk(MLComputePlan *plan) {
        MLModelStructure *structure = plan.modelStructure;
        if (structure.program != nil) {
            report_.set(@"model_kind", @"program");
            NSDictionary *functions = structure.program.functions;
            NSString *name = [functions count] == 1 ? at([functions allKeys], 0) : @"main";
            MLModelStructureProgramFunction *function = get(functions, name);
            if (function == nil) {
                result(@"failed", ownError(@"the program has several functions and none of them is main"));
                return;
            }
            walkBlock(plan, function.block, name);
        } else if (structure.neuralNetwork != nil) {
            report_.set(@"model_kind", @"neural_network");
            for (MLModelStructureNeuralNetworkLayer *layer in structure.neuralNetwork.layers) {
                // A layer has no estimated cost.
                operation(@"layers", layer.type, @[ layer.name ], [plan computeDeviceUsageForNeuralNetworkLayer:layer], nil);
            }
        } else {
            result(@"failed", ownError(@"the model is neither a program nor a neural network"));
            return;
        }
        result(@"observed", [NSNull null]);
    }

    API_AVAILABLE(macos(14.4)) void walkBlock(MLComputePlan *plan, MLModelStructureProgramBlock *block, NSString *path) {
        NSUInteger n = 0;
        for (MLModelStructureProgramOperation *op in block.operations) {
            NSMutableArray *names = [NSMutableArray array];
            for (MLModelStructureProgramNamedValueType *output in op.outputs) {
                [names addObject:output.name];
            }
            operation(path, op.operatorName, names, [plan computeDeviceUsageForMLProgramOperation:op], [plan estimatedCostOfMLProgramOperation:op]);
            NSUInteger inner = 0;
            for (MLModelStructureProgramBlock *under in op.blocks) {
                walkBlock(plan, under, [NSString stringWithFormat:@"%@/%lu.%lu", path, (unsigned long)n, (unsigned long)inner++]);
            }
            n++;
        }
    }

    // Constants have neither usage nor cost.
    API_AVAILABLE(macos(14.4))
    void operation(NSString *block, NSString *operatorName, NSArray *outputs, MLComputePlanDeviceUsage *usage, MLComputePlanCost *cost) {
        NSMutableArray *supported = [NSMutableArray array];
        for (id<MLComputeDeviceProtocol> device in usage.supportedComputeDevices) {
            NSString *kind = kindOf(device);
            if (![supported containsObject:kind]) {
                [supported addObject:kind];
            }
        }
        id preferred = usage.preferredComputeDevice;
        [operations_ addObject:@{
            @"block" : block,
            @"operator" : operatorName,
            @"outputs" : outputs,
            @"preferred" : preferred == nil ? (id)[NSNull null] : (id)kindOf(preferred),
            @"supported" : [supported sortedArrayUsingSelector:@selector(compare:)],
            @"weight" : cost == nil ? (id)[NSNull null] : (id)@(cost.weight),
        }];
    }

    Report report_;
    NSMutableArray *operations_;
};

}  // namespace

bool reportDevices(NSString *reportPath) {
    Report report(reportPath);
    report.set(@"mode", @"devices");
    report.set(@"framework", frameworkName());
    report.set(@"devices", @[]);
    report.set(@"result", @"pending");
    report.set(@"error", [NSNull null]);
    if (!report.write()) {
        return false;
    }
    if (@available(macOS 14.0, *)) {
        report.set(@"devices", deviceList());
        report.set(@"result", @"observed");
    } else {
        report.set(@"result", @"not_observed");
        report.set(@"error", ownError(kDevicesNeed));
    }
    return report.write();
}

bool reportPlan(NSString *modelPath, NSString *reportPath) { return PlanReader(reportPath).run(modelPath); }

}  // namespace coreml_probe
