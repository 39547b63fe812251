#import "third_party/core_ml_stand_in/flight.h"

#include <stdlib.h>
#include <string.h>

#include <memory>

namespace {

// A block on the heap. The runtime that is used here has no copy of blocks, whose layout is fixed by clang's Block-ABI-Apple: isa,
// flags, reserved, invoke, descriptor; the descriptor begins with reserved and size, and helpers follow where a flag says so.
class HeapBlock {
  public:
    explicit HeapBlock(const void *block) {
        const Layout *from = static_cast<const Layout *>(block);
        copy_ = static_cast<Layout *>(malloc(from->descriptor->size));
        memcpy(copy_, from, from->descriptor->size);
        if (copy_->flags & kHasHelpers) {
            copy_->descriptor->copy(copy_, from);
        }
    }
    ~HeapBlock() {
        if (copy_->flags & kHasHelpers) {
            copy_->descriptor->dispose(copy_);
        }
        free(copy_);
    }
    HeapBlock(const HeapBlock &) = delete;
    HeapBlock &operator=(const HeapBlock &) = delete;

    void *get() const { return copy_; }

  private:
    static constexpr int kHasHelpers = 1 << 25;
    struct Descriptor {
        unsigned long reserved, size;
        void (*copy)(void *, const void *);
        void (*dispose)(const void *);
    };
    struct Layout {
        void *isa;
        int flags, reserved;
        void (*invoke)(void *);
        Descriptor *descriptor;
    };
    Layout *copy_;
};

using Answered = void (^)(id<MLFeatureProvider>, NSError *);

}  // namespace

@implementation CoreMLGateFlight {
    MLModel *_model;
    id _input;
    MLPredictionOptions *_options;
    std::unique_ptr<HeapBlock> _handler;
}

- (instancetype)initWithModel:(MLModel *)model input:(id)input options:(MLPredictionOptions *)options handler:(const void *)block {
    self = [super init];
    if (self != nil) {
        _model = model;
        _input = input;
        _options = options;
        _handler.reset(new HeapBlock(block));
    }
    return self;
}

- (void)fly {
    @autoreleasepool {
        NSError *error = nil;
        id<MLFeatureProvider> output = [_model predictionFromFeatures:_input options:_options error:&error];
        // The caller may end the model as soon as it has its answer, so this thread lets go of it first.
        _model = nil;
        __unsafe_unretained Answered handler = (__bridge __unsafe_unretained Answered)_handler->get();
        handler(output, error);
    }
}
@end
