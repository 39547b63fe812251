// Holds the double to upstream's memory behaviour and to clean handling of its evaluator.
//
//   double_test FAKE_EVALUATOR

#include "coreml/whisper-encoder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

int failures = 0;
std::string current;

void check(bool ok, const std::string & what) {
    if (!ok) {
        printf("%s: %s\n", current.c_str(), what.c_str());
        failures++;
    }
}

// Standard error goes to a file while one of these lives.
class Capture {
  public:
    Capture() {
        const char * folder = getenv("TEST_TMPDIR");
        std::string name = std::string(folder ? folder : "/tmp") + "/double_test_XXXXXX";
        file_ = mkstemp(&name[0]);
        unlink(name.c_str());
        fflush(stderr);
        before_ = dup(STDERR_FILENO);
        dup2(file_, STDERR_FILENO);
    }
    ~Capture() { restore(); }

    std::string text() {
        restore();
        std::string out(size_t(lseek(file_, 0, SEEK_END)), '\0');
        check(pread(file_, &out[0], out.size(), 0) == ssize_t(out.size()), "the log can be read");
        close(file_);
        file_ = -1;
        return out;
    }

  private:
    void restore() {
        if (before_ >= 0) {
            fflush(stderr);
            dup2(before_, STDERR_FILENO);
            close(before_);
            before_ = -1;
        }
    }
    int file_;
    int before_;
};

int open_files() {
    int n = 0;
    DIR * dir = opendir("/dev/fd");
    while (readdir(dir)) {
        n++;
    }
    closedir(dir);
    return n;
}

bool no_children() { return waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD; }

void mode(const char * name) {
    current = name;
    setenv("FAKE_EVALUATOR", name, 1);
}

// Whether a log is as expected. A `*` in what is expected stands for the rest of a line: how an evaluator ends that was
// still writing when its pipe closed is up to timing.
bool matches(const std::string & log, const std::string & want) {
    const size_t star = want.find('*');
    if (star == std::string::npos) {
        return log == want;
    }
    const size_t end = log.find('\n', star);
    return log.compare(0, star, want, 0, star) == 0 && end != std::string::npos && log.substr(end + 1) == want.substr(std::min(star + 2, want.size()));
}

const char * const kGreeting = "coreml_double: version 2, protocol 1, fault none\n";

// A load that must fail, with exactly these lines after the greeting.
void load_fails(const char * name, const char * path, const std::string & lines) {
    mode(name);
    const int files = open_files();
    Capture capture;
    whisper_coreml_context * ctx = whisper_coreml_init(path);
    const std::string log = capture.text();
    check(ctx == nullptr, "the load fails");
    check(matches(log, kGreeting + lines), "log is:\n" + log);
    check(no_children(), "no process is left");
    check(open_files() == files, "no file is left open");
}

// Encodes of a 2 by 3 input into twelve floats of -1; returns them. The log holds `lines` after the greeting, and then the
// double's own count of those encodes, of which `failed` failed.
std::vector<float> encode(const char * name, const std::string & lines, int times = 1, int failed = 0) {
    mode(name);
    const int files = open_files();
    std::vector<float> mel = {10, 20, 30, 40, 50, 60};
    std::vector<float> out(12, -1);
    Capture capture;
    whisper_coreml_context * ctx = whisper_coreml_init("/");
    if (ctx != nullptr) {
        for (int i = 0; i < times; i++) {
            whisper_coreml_encode(ctx, 3, 2, mel.data(), out.data());
        }
        whisper_coreml_free(ctx);
    }
    const std::string log = capture.text();
    check(ctx != nullptr, "the load succeeds");
    const std::string count = "coreml_double: " + std::to_string(times) + " predictions, " + std::to_string(failed) + " failed\n";
    check(matches(log, kGreeting + lines + count), "log is:\n" + log);
    check(no_children(), "no process is left");
    check(open_files() == files, "no file is left open");
    return out;
}

// The first n floats are 1, 2, 3, ... and the rest is untouched.
std::vector<float> counted(int n) {
    std::vector<float> out(12, -1);
    for (int i = 0; i < n; i++) {
        out[size_t(i)] = float(i + 1);
    }
    return out;
}

void test_loads() {
    load_fails("silent", "/no/such.mlmodelc", "coreml_double: cannot load '/no/such.mlmodelc': No such file or directory\n");
    load_fails("silent", "/", "coreml_double: cannot load '/': no greeting, and the evaluator ended with exit code 7\n");
    load_fails("load-fails", "/", "coreml_double: cannot load '/': no model in /?whisper_init_state: Core ML model loaded\n");
    load_fails("bad-magic", "/", "coreml_double: cannot load '/': no greeting, and *\n");
    load_fails("newer", "/", "coreml_double: cannot load '/': the evaluator speaks protocol 2, expected 1\n");

    const std::string program = getenv("COREML_GATE_EVALUATOR");
    unsetenv("COREML_GATE_EVALUATOR");
    load_fails("unset", "/", "coreml_double: cannot load '/': COREML_GATE_EVALUATOR is not set, so there is no evaluator to start\n");
    setenv("COREML_GATE_EVALUATOR", "/no/such/program", 1);
    load_fails("absent", "/", "coreml_double: cannot load '/': cannot start the evaluator: No such file or directory\n");
    setenv("COREML_GATE_EVALUATOR", program.c_str(), 1);
}

void test_memory() {
    check(encode("plain", "") == counted(6), "the output is copied");
    check(encode("too-large", "") == counted(12), "an output that is too large is copied whole, over what lies behind");
    check(encode("too-small", "") == counted(3), "an output that is too small is copied, and the rest is left");
    check(encode("padded", "") == counted(6), "strides are not looked at");

    // Six elements of two bytes: twelve bytes are there, twenty-four are copied.
    std::vector<float> half = counted(3);
    half[3] = half[4] = half[5] = 0;
    check(encode("float16", "") == half, "an output of another type is read past its end");

    std::vector<float> echoed(12, -1);
    for (int i = 0; i < 6; i++) {
        echoed[size_t(i)] = float(10 * (i + 1));
    }
    check(encode("greets", "coreml_double: ready, kernel of?a test\n") == counted(6), "what the evaluator says is logged, on one line");
    check(encode("echo", "") == echoed, "the input reaches the evaluator as it is");
}

void test_failures() {
    const std::vector<float> untouched(12, -1);
    const std::string prefix = "coreml_double: prediction failed: ";
    check(encode("prediction-fails", prefix + "shape\n", 1, 1) == untouched, "nothing is copied");
    check(encode("prediction-fails", prefix + "shape\n" + prefix + "shape\n", 2, 2) == untouched, "nothing is copied twice");
    check(encode("dies", prefix + "no reply, and the evaluator was ended by signal 9\n" + prefix + "the evaluator has ended before\n", 2, 2) == untouched,
          "nothing is copied from a process that died");
    check(encode("renamed", "", 1, 0) == untouched,
          "nothing is copied from an output of another name");
    check(encode("cut-short", prefix + "no reply, and the evaluator ended with exit code 0\n", 1, 1) == untouched, "a reply that is cut short is none");
    check(encode("rank", prefix + "an output that breaks the protocol, and *\n", 1, 1) == untouched, "a rank of 17 is refused");
    check(encode("overflow", prefix + "an output that breaks the protocol, and *\n", 1, 1) == untouched,
          "a shape whose product does not fit is refused");
}

// A context that is freed before anyone asked it for a prediction says so: loaded is not executed.
void test_no_prediction() { encode("plain", "", 0); }

// Each context counts for itself.
void test_contexts_count_apart() {
    mode("plain");
    std::vector<float> mel(6, 1), out(12, -1);
    Capture capture;
    whisper_coreml_context * first = whisper_coreml_init("/");
    whisper_coreml_context * second = whisper_coreml_init("/");
    whisper_coreml_encode(first, 3, 2, mel.data(), out.data());
    whisper_coreml_encode(first, 3, 2, mel.data(), out.data());
    whisper_coreml_encode(second, 3, 2, mel.data(), out.data());
    whisper_coreml_free(second);
    whisper_coreml_free(first);
    const std::string log = capture.text();
    const std::string want = std::string(kGreeting) + kGreeting + "coreml_double: 1 predictions, 0 failed\ncoreml_double: 2 predictions, 0 failed\n";
    check(log == want, "log is:\n" + log);
}

// A program without standard input or output must not lend its pipes to them.
void test_closed_standard_streams() {
    const int in = dup(STDIN_FILENO);
    close(STDIN_FILENO);
    check(encode("plain", "") == counted(6), "it works without standard input");
    dup2(in, STDIN_FILENO);
    close(in);
}

}  // namespace

int main(int argc, char ** argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: double_test FAKE_EVALUATOR\n");
        return 2;
    }
    setenv("COREML_GATE_EVALUATOR", argv[1], 1);
    test_loads();
    test_memory();
    test_failures();
    test_no_prediction();
    test_contexts_count_apart();
    test_closed_standard_streams();
    printf("%d failures\n", failures);
    return failures == 0 ? 0 : 1;
}
