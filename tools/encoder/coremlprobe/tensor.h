// How tensors lie in memory: their element types, and what is written down of an output.
#pragma once

#import <CoreML/CoreML.h>

#include <stddef.h>
#include <stdint.h>
#include <vector>

namespace coreml_probe {

struct ElementType {
    const char *name;
    NSInteger code;
    size_t size;
};

// Null for a type that is not exchanged.
const ElementType *typeNamed(NSString *name);

// The bytes of an input as Core ML was given them.
struct Memory {
    const uint8_t *begin;
    const uint8_t *end;
};

// How many bytes lie from the first element to the end of the last.
size_t extentBytes(NSArray *shape, NSArray *strides, size_t element);

// The elements in row-major order, whatever their strides, bit for bit. Empty for a type that is not exchanged or no elements.
std::vector<uint8_t> gathered(MLMultiArray *array);

// What a report holds of an output. Its elements go to the file, if their type is known.
NSDictionary *outputReport(NSString *name, NSString *file, MLMultiArray *array, const std::vector<Memory> &inputs);

}  // namespace coreml_probe
