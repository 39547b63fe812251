#import "tools/encoder/coremlprobe/tensor.h"

#import "tools/encoder/coremlprobe/report.h"

#include <stdio.h>
#include <string.h>

namespace coreml_probe {

namespace {

// The codes of MLMultiArrayDataType. Those that an SDK may lack are given as numbers.
const ElementType kTypes[] = {
    {"float32", 65568, 4}, {"float16", 65552, 2}, {"float64", 65600, 8}, {"int32", 131104, 4}, {"int8", 131080, 1},
};

const ElementType *typeOf(NSInteger code) {
    for (const ElementType &t : kTypes) {
        if (t.code == code) {
            return &t;
        }
    }
    return nullptr;
}

// Writes a file of bytes.
bool written(NSString *path, const std::vector<uint8_t> &bytes) {
    FILE *f = fopen([path UTF8String], "wb");
    if (f == nullptr) {
        return false;
    }
    bool ok = fwrite(bytes.data(), 1, bytes.size(), f) == bytes.size();
    return fclose(f) == 0 && ok;
}

}  // namespace

const ElementType *typeNamed(NSString *name) {
    for (const ElementType &t : kTypes) {
        if ([name isEqual:[NSString stringWithUTF8String:t.name]]) {
            return &t;
        }
    }
    return nullptr;
}

size_t extentBytes(NSArray *shape, NSArray *strides, size_t element) {
    size_t last = 0;
    for (NSUInteger i = 0; i < [shape count]; i++) {
        last += ([at(shape, i) unsignedLongValue] - 1) * [at(strides, i) unsignedLongValue];
    }
    return (last + 1) * element;
}

std::vector<uint8_t> gathered(MLMultiArray *array) {
    const ElementType *type = typeOf(array.dataType);
    const uint8_t *data = static_cast<const uint8_t *>(array.dataPointer);
    NSUInteger rank = [array.shape count];
    std::vector<size_t> extent(rank), stride(rank), index(rank, 0);
    size_t total = 1;
    for (NSUInteger i = 0; i < rank; i++) {
        extent[i] = [at(array.shape, i) unsignedLongValue];
        stride[i] = [at(array.strides, i) unsignedLongValue];
        total *= extent[i];
    }
    if (type == nullptr || data == nullptr) {
        return {};
    }
    const size_t size = type->size;
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
    return packed;
}

NSDictionary *outputReport(NSString *name, NSString *file, MLMultiArray *array, const std::vector<Memory> &inputs) {
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
    bool shares = false, stored = false;
    if (type != nullptr && total > 0 && data != nullptr) {
        const uint8_t *end = data + (last + 1) * type->size;
        for (const Memory &i : inputs) {
            shares = shares || (data < i.end && i.begin < end);
        }
        stored = written(file, gathered(array));
    }
    return @{
        @"name" : name,
        @"dtype" : type == nullptr ? @"unknown" : [NSString stringWithUTF8String:type->name],
        @"dtype_code" : @((long)array.dataType),
        @"shape" : shape,
        @"strides" : strides,
        @"count" : @((long)array.count),
        @"contiguous" : flag(contiguous),
        @"shares_input" : flag(shares),
        @"written" : flag(stored),
    };
}

}  // namespace coreml_probe
