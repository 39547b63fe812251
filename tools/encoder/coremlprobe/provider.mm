#import "tools/encoder/coremlprobe/provider.h"

@implementation ProbeInput {
    NSDictionary *_arrays;
}

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
