// Memory of the probe's own that Core ML is given in place.
#pragma once

#import <Foundation/Foundation.h>

#include <stddef.h>
#include <stdint.h>

namespace coreml_probe {

// From this size on memory begins on a page, as Core ML recommends for what it is given in place; below it on 16 bytes.
constexpr size_t kPageAlignedFrom = 16 * 1024;
constexpr size_t kSmallAlignment = 16;

// The alignment that memory of a size gets, in bytes.
size_t alignmentFor(size_t size);

// A block of memory, aligned by its size, that is freed with the object. Arrays over it must not outlive it.
class Storage {
  public:
    Storage() = default;
    ~Storage();
    Storage(Storage &&other) noexcept;
    Storage(const Storage &) = delete;
    Storage &operator=(const Storage &) = delete;
    Storage &operator=(Storage &&) = delete;

    // Fills itself from a file, once. False if the file cannot be read whole or there is no memory.
    bool read(NSString *path);

    uint8_t *data() const { return data_; }
    size_t size() const { return size_; }

  private:
    uint8_t *data_ = nullptr;
    size_t size_ = 0;
};

// What the probe itself did with memory since it began. Core ML's own copies are not among it, as it does not tell of them.
struct Counters {
    // Arrays that Core ML was given over the probe's memory, without a copy.
    uint64_t direct_bindings = 0;
    // Bytes that the probe copied: from files into storage, and from outputs.
    uint64_t copied_bytes = 0;
    // Blocks of storage that were made.
    uint64_t allocations = 0;
};

Counters &counters();

}  // namespace coreml_probe
