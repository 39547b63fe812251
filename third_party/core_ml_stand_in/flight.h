// A prediction that is under way on a thread of its own.
#pragma once

#import <CoreML/CoreML.h>

@interface CoreMLGateFlight : NSObject
// Keeps everything until it has flown; the block is copied.
- (instancetype)initWithModel:(MLModel *)model input:(id)input options:(MLPredictionOptions *)options handler:(const void *)block;
- (void)fly;
@end
