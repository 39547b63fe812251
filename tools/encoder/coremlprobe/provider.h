// What whisper_encoder_implInput is to the bridge, for any names.
#pragma once

#import <CoreML/CoreML.h>

@interface ProbeInput : NSObject <MLFeatureProvider>
- (instancetype)initWithArrays:(NSDictionary *)arrays;
@end
