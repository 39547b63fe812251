#import "tools/encoder/coremlprobe/storage.h"

#include <algorithm>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

namespace coreml_probe {

size_t alignmentFor(size_t size) {
    if (size < kPageAlignedFrom) {
        return kSmallAlignment;
    }
    const long page = sysconf(_SC_PAGESIZE);
    return std::max(kPageAlignedFrom, page > 0 ? size_t(page) : 0);
}

Storage::~Storage() { free(data_); }

Storage::Storage(Storage &&other) noexcept : data_(other.data_), size_(other.size_) {
    other.data_ = nullptr;
    other.size_ = 0;
}

bool Storage::read(NSString *path) {
    FILE *f = data_ == nullptr ? fopen([path UTF8String], "rb") : nullptr;
    if (f == nullptr) {
        return false;
    }
    struct stat info;
    void *made = nullptr;
    bool ok = fstat(fileno(f), &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0 &&
              posix_memalign(&made, alignmentFor(size_t(info.st_size)), size_t(info.st_size)) == 0;
    if (ok) {
        data_ = static_cast<uint8_t *>(made);
        size_ = size_t(info.st_size);
        ok = fread(data_, 1, size_, f) == size_;
        counters().allocations++;
        counters().copied_bytes += size_;
    }
    fclose(f);
    return ok;
}

Counters &counters() {
    static Counters all;
    return all;
}

}  // namespace coreml_probe
