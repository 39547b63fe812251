// Drives a bridge by upstream's three functions and prints what it did to memory, for bridge_test.
//
//   harness STEP...
//
// A step is load=PATH, free, free-null, encode=N_CTX,N_MEL,ROOM, or repeat-load=PATH,TIMES. encode gives a mel of 0, 1, 2, … and a
// destination of ROOM bytes before a page that nobody may touch, filled with a pattern; it prints how many bytes from the
// front were written and a hash of them.
#include "coreml/whisper-encoder.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

// Two patterns, so that a byte which happens to equal the first differs from the second.
const unsigned char kPatterns[] = {0xa5, 0x5a};

struct Destination {
    explicit Destination(size_t size) : room(size) {
        const size_t page = size_t(sysconf(_SC_PAGESIZE));
        mapped = (room + page - 1) / page * page + page;
        base = static_cast<unsigned char *>(mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        mprotect(base + mapped - page, page, PROT_NONE);
        start = base + mapped - page - room;
    }
    ~Destination() { munmap(base, mapped); }
    size_t room, mapped;
    unsigned char *base, *start;
};

uint64_t fnv(const unsigned char * data, size_t n) {
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < n; i++) {
        h = (h ^ data[i]) * 1099511628211u;
    }
    return h;
}

// Encodes once for each pattern. Bytes that were written are those that do not hold the pattern both times.
void encode(const whisper_coreml_context * ctx, int64_t n_ctx, int64_t n_mel, size_t room) {
    // A size that no bridge may take is refused before the mel is read.
    std::vector<float> mel(size_t(n_ctx > 0 && n_mel > 0 ? std::min<int64_t>(n_ctx * n_mel, 1 << 20) : 1));
    for (size_t i = 0; i < mel.size(); i++) {
        mel[i] = float(i);
    }
    Destination out(room);
    for (unsigned char pattern : kPatterns) {
        memset(out.start, pattern, room);
        whisper_coreml_encode(ctx, n_ctx, n_mel, mel.data(), reinterpret_cast<float *>(out.start));
        size_t written = room;
        while (written > 0 && out.start[written - 1] == pattern) {
            written--;
        }
        printf("encode: wrote %zu of %zu bytes, %016llx\n", written, room, static_cast<unsigned long long>(fnv(out.start, written)));
        for (size_t i = 0; i < mel.size(); i++) {
            if (mel[i] != float(i)) {
                printf("encode: changed its input at %zu\n", i);
                break;
            }
        }
    }
}

}  // namespace

int main(int argc, char ** argv) {
    setvbuf(stdout, nullptr, _IOLBF, 0);
    whisper_coreml_context * ctx = nullptr;
    for (int i = 1; i < argc; i++) {
        const std::string step = argv[i];
        const size_t at = step.find('=');
        const std::string name = step.substr(0, at), value = at == std::string::npos ? "" : step.substr(at + 1);
        if (name == "load") {
            ctx = whisper_coreml_init(value.c_str());
            printf("load: %s\n", ctx ? "a context" : "null");
        } else if (name == "free") {
            whisper_coreml_free(ctx);
            printf("free: done\n");
        } else if (name == "free-null") {
            whisper_coreml_free(nullptr);
            printf("free of null: done\n");
        } else if (name == "encode") {
            long long n_ctx, n_mel, room;
            if (sscanf(value.c_str(), "%lld,%lld,%lld", &n_ctx, &n_mel, &room) != 3) {
                return 2;
            }
            encode(ctx, n_ctx, n_mel, size_t(room));
        } else if (name == "repeat-load") {
            const size_t comma = value.rfind(',');
            const std::string path = value.substr(0, comma);
            int loaded = 0;
            for (int n = atoi(value.c_str() + comma + 1); n > 0; n--) {
                whisper_coreml_context * one = whisper_coreml_init(path.c_str());
                loaded += one != nullptr;
                whisper_coreml_free(one);
            }
            printf("loaded and freed %d times\n", loaded);
        } else {
            fprintf(stderr, "harness: unknown step %s\n", argv[i]);
            return 2;
        }
    }
    return 0;
}
