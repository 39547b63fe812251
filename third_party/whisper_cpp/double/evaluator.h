// The evaluator process: a program that computes what Core ML would, started once per loaded encoder.
//
// Protocol 1, little-endian, over the program's standard input and output. It is started as
// `<COREML_GATE_EVALUATOR> serve <path>`.
//
//   greeting  u32 magic "CGEV", u32 version 1, u32 status (0 ready, 1 load failed, 2 the load raises an exception),
//             u32 n, n bytes of message
//   request   u32 op (1 predict, 2 bye), u32 n_mel, u32 n_ctx, n_mel * n_ctx float32
//   reply     u32 status (0 done, 1 prediction failed, 2 the prediction raises an exception, 3 done, but the output has
//             another name than "output": the message), u32 n, n bytes of message; after 0 and 3 also:
//             u32 dtype, u32 rank, rank * u64 shape, rank * u64 strides (elements), u64 n, n bytes of data
//
// The double and the stand-in for Apple's framework (third_party/core_ml_stand_in) both stand on this.
#ifndef COREML_GATE_DOUBLE_EVALUATOR_H_
#define COREML_GATE_DOUBLE_EVALUATOR_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace coreml_gate {

// What a prediction returned, in the terms of MLMultiArray. Upstream's bridge looks at nothing but shape and data.
struct MultiArray {
    std::string feature;  // its name
    uint32_t dtype = 0;   // a code of MLMultiArrayDataType
    std::vector<uint64_t> shape;
    std::vector<uint64_t> strides;  // in elements
    std::unique_ptr<unsigned char[]> data;
    size_t n_bytes = 0;

    // The product of the shape: what upstream calls `count`. One for rank zero.
    uint64_t count() const;
};

// Takes a text that someone else wrote for one line of our log: no control character gets through.
std::string one_line(const std::string & text);

// The fault that the environment asks the evaluator for, on one line. The evaluator decides what the name means, and
// refuses what it does not know.
std::string fault_name();

// What came of a load or a prediction. What raises is no failure: on a Mac an exception passes through the bridge.
enum class Outcome { kDone, kFailed, kRaises };

class Evaluator {
  public:
    // Starts the program that the environment names and waits for its greeting. Unless it is done, there is no evaluator
    // and `why` says why.
    static Outcome start(const char * path_model, std::unique_ptr<Evaluator> & evaluator, std::string & why);

    // What the program said when it was ready, such as which code it computes with; may be empty.
    const std::string & greeting() const { return said; }

    // Says goodbye, closes both pipes and reaps the process; a process that stays is killed.
    ~Evaluator();

    Evaluator(const Evaluator &) = delete;
    Evaluator & operator=(const Evaluator &) = delete;

    // kFailed if the prediction failed, or the process or the protocol did, or the input has no such size. `why` says why.
    Outcome predict(int64_t n_mel, int64_t n_ctx, const float * mel, MultiArray & out, std::string & why);

  private:
    Evaluator() = default;

    bool spawn(const char * program, const char * path_model, std::string & why);
    Outcome greet(std::string & why);

    // Both fail once the process has ended or its end of the pipe is closed; never by a signal.
    bool write_all(const void * data, size_t n);
    bool read_all(void * data, size_t n);
    bool read_message(std::string & message);
    bool read_array(MultiArray & out);

    // Closes the pipes and reaps the process, and says how it ended.
    std::string finish();

    pid_t pid = -1;
    int to = -1;
    int from = -1;
    std::string said;
};

}  // namespace coreml_gate

#endif
