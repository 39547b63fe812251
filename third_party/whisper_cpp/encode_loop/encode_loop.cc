// encode_loop times ggml's own encoder, for the race in tools/dev/peers/encode.py.
//
//   encode_loop MODEL.bin MEL OUT THREADS flash|plain
//
// MEL holds float32 values, bands by frames. It loads the model, writes "ready", and for each line read encodes once and
// writes the nanoseconds that it took; the last output is written to OUT as float32. whisper_encode computes the decoder's
// keys and values of cross attention too, which no other encoder in the race does: of its three graphs (convolutions,
// encoder, cross attention) the time of the third is left out. The linker hands us the calls that compute graphs.
#include "ggml-backend.h"
#include "ggml.h"
#include "whisper.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kGraphs = 3;    // of one whisper_encode
constexpr int kEncoder = 1;   // the encoder's, counted from zero
constexpr int kCross = 2;     // the last

int graphs = 0;
Clock::duration outside{};    // of what is timed, but is not the encoder
std::vector<float> output;

[[noreturn]] void fail(const std::string & what) {
    std::cerr << "encode_loop: " << what << "\n";
    std::exit(1);
}

}  // namespace

extern "C" enum ggml_status __real_ggml_backend_sched_graph_compute(ggml_backend_sched_t sched, struct ggml_cgraph * graph);

extern "C" enum ggml_status __wrap_ggml_backend_sched_graph_compute(ggml_backend_sched_t sched, struct ggml_cgraph * graph) {
    const auto start = Clock::now();
    const enum ggml_status status = __real_ggml_backend_sched_graph_compute(sched, graph);
    const auto done = Clock::now();
    if (graphs == kCross) {
        outside += done - start;
    }
    if (graphs == kEncoder) {
        struct ggml_tensor * out = ggml_graph_node(graph, -1);
        output.resize(ggml_nelements(out));
        ggml_backend_tensor_get(out, output.data(), 0, ggml_nbytes(out));
        outside += Clock::now() - done;
    }
    graphs++;
    return status;
}

int main(int argc, char ** argv) {
    if (argc != 6 || (std::strcmp(argv[5], "flash") != 0 && std::strcmp(argv[5], "plain") != 0)) {
        fail("expected MODEL.bin MEL OUT THREADS flash|plain");
    }
    std::ifstream file(argv[2], std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    std::vector<float> mel(bytes.size() / sizeof(float));
    std::memcpy(mel.data(), bytes.data(), mel.size() * sizeof(float));

    whisper_log_set([](enum ggml_log_level, const char *, void *) {}, nullptr);
    whisper_context_params params = whisper_context_default_params();
    params.use_gpu = false;
    params.flash_attn = std::strcmp(argv[5], "flash") == 0;
    whisper_context * context = whisper_init_from_file_with_params(argv[1], params);
    if (context == nullptr) {
        fail(std::string("cannot load ") + argv[1]);
    }
    const int bands = whisper_model_n_mels(context);
    const int frames = 2 * whisper_model_n_audio_ctx(context);
    if (mel.size() != size_t(bands) * frames || whisper_set_mel(context, mel.data(), frames, bands) != 0) {
        fail("the mel does not fit the model");
    }
    std::cout << "ready" << std::endl;
    for (std::string line; std::getline(std::cin, line);) {
        graphs = 0;
        outside = {};
        const auto start = Clock::now();
        if (whisper_encode(context, 0, std::atoi(argv[4])) != 0 || graphs != kGraphs) {
            fail("the encoder failed, or is no longer made of three graphs");
        }
        const auto took = Clock::now() - start - outside;
        std::cout << std::chrono::duration_cast<std::chrono::nanoseconds>(took).count() << std::endl;
    }
    std::ofstream(argv[3], std::ios::binary).write(reinterpret_cast<const char *>(output.data()), output.size() * sizeof(float));
    whisper_free(context);
    return 0;
}
