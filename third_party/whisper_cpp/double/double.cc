// The double of upstream's Core ML bridge (src/coreml/whisper-encoder.mm), for hosts without Core ML.
//
// Same three functions, same memory behaviour, another engine. What upstream's bridge does to memory is
// the contract under test, so it is repeated here and not repaired:
//   - the output is copied as count * sizeof(float) bytes, where count is the product of its shape:
//     neither the element type, nor the strides, nor the room at the destination is looked at;
//   - a failed prediction is nil, a message to nil is zero, so zero bytes are copied and nothing is reported
//     to the caller.
// Unlike upstream's, this bridge says on standard error why a load or a prediction failed, and, when its context is freed,
// how many predictions it was asked for: the judge compares that with what whisper.cpp counted.

#include "coreml/whisper-encoder.h"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "third_party/whisper_cpp/double/evaluator.h"

using coreml_gate::Evaluator;
using coreml_gate::MultiArray;
using coreml_gate::Outcome;
using coreml_gate::one_line;

struct whisper_coreml_context {
    explicit whisper_coreml_context(std::unique_ptr<Evaluator> started) : evaluator(std::move(started)) {}

    std::unique_ptr<Evaluator> evaluator;
    // Predictions that were asked for, and those of them that Core ML failed. A context is const to the
    // function that predicts.
    mutable std::atomic<uint64_t> predictions{0};
    mutable std::atomic<uint64_t> failed{0};
};

namespace {

void log_line(const std::string & text) {
    // One call a line, so that lines of several threads do not mix.
    fputs((text + "\n").c_str(), stderr);
    fflush(stderr);
}

// An exception that nobody catches ends the process; whisper.cpp catches none of Objective-C's.
[[noreturn]] void raise_exception(const std::string & what) {
    log_line("coreml_double: uncaught exception: " + one_line(what));
    abort();
}

// Whether a path is UTF-8. Foundation makes no string of one that is not, and raises an exception at the URL of none.
bool is_utf8(const char * text) {
    const unsigned char * p = reinterpret_cast<const unsigned char *>(text);
    while (*p) {
        const int more = *p < 0x80 ? 0 : *p >= 0xc2 && *p < 0xe0 ? 1 : *p >= 0xe0 && *p < 0xf0 ? 2 : *p >= 0xf0 && *p < 0xf5 ? 3 : -1;
        if (more < 0) {
            return false;
        }
        uint32_t rune = more == 0 ? *p : *p & (0x3f >> more);
        for (int i = 1; i <= more; i++) {
            if ((p[i] & 0xc0) != 0x80) {
                return false;
            }
            rune = rune << 6 | (p[i] & 0x3f);
        }
        if ((more == 2 && rune < 0x800) || (more == 3 && (rune < 0x10000 || rune > 0x10ffff)) || (rune >= 0xd800 && rune < 0xe000)) {
            return false;
        }
        p += more + 1;
    }
    return true;
}

}  // namespace

extern "C" struct whisper_coreml_context * whisper_coreml_init(const char * path_model) {
    log_line("coreml_double: version 2, protocol 1, fault " + coreml_gate::fault_name());
    if (!is_utf8(path_model)) {
        raise_exception("a path that is not UTF-8");
    }

    std::string why;
    std::unique_ptr<Evaluator> evaluator;
    // Foundation's URL of an empty path is the current folder.
    switch (Evaluator::start(*path_model ? path_model : ".", evaluator, why)) {
        case Outcome::kDone:
            break;
        case Outcome::kRaises:
            raise_exception(why);
        case Outcome::kFailed:
            log_line("coreml_double: cannot load '" + one_line(path_model) + "': " + one_line(why));
            return nullptr;
    }
    if (!evaluator->greeting().empty()) {
        log_line("coreml_double: ready, " + one_line(evaluator->greeting()));
    }
    return new whisper_coreml_context(std::move(evaluator));
}

extern "C" void whisper_coreml_free(struct whisper_coreml_context * ctx) {
    ctx->evaluator.reset();  // of a null context it crashes, as upstream's does
    log_line("coreml_double: " + std::to_string(ctx->predictions) + " predictions, " + std::to_string(ctx->failed) + " failed");
    delete ctx;
}

extern "C" void whisper_coreml_encode(
        const whisper_coreml_context * ctx,
                             int64_t   n_ctx,
                             int64_t   n_mel,
                               float * mel,
                               float * out) {
    MultiArray output;
    std::string why;
    ctx->predictions++;
    switch (ctx->evaluator->predict(n_mel, n_ctx, mel, output, why)) {
        case Outcome::kDone:
            break;
        case Outcome::kRaises:
            raise_exception(why);
        case Outcome::kFailed:
            ctx->failed++;
            log_line("coreml_double: prediction failed: " + one_line(why));
            return;  // upstream: memcpy(out, NULL, 0)
    }
    if (output.feature != "output") {
        return;  // upstream asks for a feature that is not there, gets nil, and says nothing
    }
    memcpy(out, output.data.get(), size_t(output.count()) * sizeof(float));
}
