// The double of upstream's Core ML bridge (src/coreml/whisper-encoder.mm), for hosts without Core ML.
//
// Same three functions, same memory behaviour, another engine. What upstream's bridge does to memory is
// the contract under test, so it is repeated here and not repaired:
//   - the output is copied as count * sizeof(float) bytes, where count is the product of its shape:
//     neither the element type, nor the strides, nor the room at the destination is looked at;
//   - a failed prediction is nil, a message to nil is zero, so zero bytes are copied and nothing is reported
//     to the caller.
// Unlike upstream's, this bridge says on standard error why a load or a prediction failed.

#include "coreml/whisper-encoder.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <string>

#include <sys/stat.h>

#include "evaluator.h"

using coreml_gate::Evaluator;
using coreml_gate::MultiArray;
using coreml_gate::one_line;

struct whisper_coreml_context {
    std::unique_ptr<Evaluator> evaluator;
};

namespace {

void log_line(const std::string & text) {
    // One call a line, so that lines of several threads do not mix.
    fputs((text + "\n").c_str(), stderr);
    fflush(stderr);
}

// The fault that the evaluator was asked for. It decides what the name means, and refuses what it does not know.
std::string fault_name() {
    const char * fault = getenv("COREML_GATE_DOUBLE_FAULT");
    return fault && *fault ? one_line(fault) : "none";
}

bool load(const char * path_model, std::unique_ptr<Evaluator> & evaluator, std::string & why) {
    struct stat info;
    if (stat(path_model, &info) != 0) {
        why = strerror(errno);
        return false;
    }
    evaluator = Evaluator::start(path_model, why);
    return evaluator != nullptr;
}

bool predict(Evaluator & evaluator, int64_t n_ctx, int64_t n_mel, const float * mel, MultiArray & out, std::string & why) {
    const int64_t most = std::numeric_limits<uint32_t>::max();
    if (n_mel < 1 || n_ctx < 1 || n_mel > most || n_ctx > most) {
        why = "an input of shape [1, " + std::to_string(n_mel) + ", " + std::to_string(n_ctx) + "]";
        return false;
    }
    return evaluator.predict(uint32_t(n_mel), uint32_t(n_ctx), mel, out, why);
}

}  // namespace

extern "C" struct whisper_coreml_context * whisper_coreml_init(const char * path_model) {
    log_line("coreml_double: version 1, protocol 1, fault " + fault_name());

    std::string why;
    std::unique_ptr<Evaluator> evaluator;
    if (!load(path_model, evaluator, why)) {
        log_line("coreml_double: cannot load '" + one_line(path_model) + "': " + one_line(why));
        return nullptr;
    }
    if (!evaluator->greeting().empty()) {
        log_line("coreml_double: ready, " + one_line(evaluator->greeting()));
    }
    return new whisper_coreml_context{std::move(evaluator)};
}

extern "C" void whisper_coreml_free(struct whisper_coreml_context * ctx) {
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
    if (!predict(*ctx->evaluator, n_ctx, n_mel, mel, output, why)) {
        log_line("coreml_double: prediction failed: " + one_line(why));
        return;  // upstream: memcpy(out, NULL, 0)
    }
    memcpy(out, output.data.get(), size_t(output.count()) * sizeof(float));
}
