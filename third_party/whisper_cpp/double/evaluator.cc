#include "third_party/whisper_cpp/double/evaluator.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>

// GCC says it with a macro, Clang with a feature.
#if defined(__SANITIZE_ADDRESS__)
#define COREML_GATE_ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define COREML_GATE_ADDRESS_SANITIZER
#endif
#endif

extern char ** environ;

namespace coreml_gate {
namespace {

constexpr uint32_t kMagic = 0x56454743;  // "CGEV"
constexpr uint32_t kProtocol = 1;
constexpr uint32_t kPredict = 1;
constexpr uint32_t kBye = 2;

// Of a greeting and of a reply.
constexpr uint32_t kOk = 0;
constexpr uint32_t kRaised = 2;
constexpr uint32_t kOtherName = 3;  // of a reply alone

// Bounds on what the other side may claim. A Whisper encoder's output is some megabytes at rank 3.
constexpr uint32_t kMaxMessage = 1 << 16;
constexpr uint32_t kMaxRank = 16;
constexpr uint64_t kMaxBytes = uint64_t(1) << 32;

// How long a process may take to end after it was told to, and the pauses between looks at it, in microseconds: most end within
// the first, and who takes longer is looked at less often.
constexpr useconds_t kGoodbye = 5000000, kFirstPause = 200, kLongestPause = 10000;

// Blocks SIGPIPE for this thread, and takes away the one that a write here has caused. A library must not
// change the process's own disposition.
class NoSigpipe {
  public:
    NoSigpipe() {
        sigset_t pending;
        sigemptyset(&pipe_);
        sigaddset(&pipe_, SIGPIPE);
        sigpending(&pending);
        was_pending_ = sigismember(&pending, SIGPIPE);
        pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
    }
    ~NoSigpipe() {
        sigset_t pending;
        sigpending(&pending);
        if (!was_pending_ && sigismember(&pending, SIGPIPE)) {
            int taken;
            sigwait(&pipe_, &taken);
        }
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }

  private:
    sigset_t pipe_;
    sigset_t before_;
    bool was_pending_;
};

void close_fd(int & fd) {
    if (fd >= 0) {
        close(fd);
        fd = -1;
    }
}

// A pipe that no other process inherits, with both ends above the standard streams: the child's ends are
// moved onto 0 and 1 later, and a move onto itself would keep close-on-exec.
bool make_pipe(int ends[2]) {
    int raw[2];
    if (pipe(raw) != 0) {
        return false;
    }
    for (int i = 0; i < 2; i++) {
        ends[i] = fcntl(raw[i], F_DUPFD_CLOEXEC, 3);
    }
    close(raw[0]);
    close(raw[1]);
    if (ends[0] >= 0 && ends[1] >= 0) {
        return true;
    }
    close_fd(ends[0]);
    close_fd(ends[1]);
    return false;
}

std::string describe(int status) {
    if (WIFSIGNALED(status)) {
        return "the evaluator was ended by signal " + std::to_string(WTERMSIG(status));
    }
    return "the evaluator ended with exit code " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

uint64_t MultiArray::count() const {
    uint64_t n = 1;
    for (uint64_t extent : shape) {
        n *= extent;  // cannot overflow: read_array has checked
    }
    return n;
}

std::string one_line(const std::string & text) {
    std::string line = text;
    std::replace_if(line.begin(), line.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
    return line;
}

std::string fault_name() {
    const char * fault = getenv("COREML_GATE_DOUBLE_FAULT");
    return fault && *fault ? one_line(fault) : "none";
}

Outcome Evaluator::start(const char * path_model, std::unique_ptr<Evaluator> & evaluator, std::string & why) {
    struct stat info;
    if (stat(path_model, &info) != 0) {
        why = strerror(errno);
        return Outcome::kFailed;
    }
    const char * program = getenv("COREML_GATE_EVALUATOR");
    if (!program || !*program) {
        why = "COREML_GATE_EVALUATOR is not set, so there is no evaluator to start";
        return Outcome::kFailed;
    }
    std::unique_ptr<Evaluator> started(new Evaluator);
    if (!started->spawn(program, path_model, why)) {
        return Outcome::kFailed;
    }
    const Outcome greeted = started->greet(why);
    if (greeted == Outcome::kDone) {
        evaluator = std::move(started);
    }
    return greeted;
}

Evaluator::~Evaluator() {
    const uint32_t bye[3] = {kBye, 0, 0};
    if (to >= 0) {
        write_all(bye, sizeof(bye));
    }
    finish();
}

bool Evaluator::spawn(const char * program, const char * path_model, std::string & why) {
    int request[2] = {-1, -1};
    int reply[2] = {-1, -1};
    if (!make_pipe(request) || !make_pipe(reply)) {
        why = std::string("cannot make a pipe to the evaluator: ") + strerror(errno);
        close_fd(request[0]);
        close_fd(request[1]);
        return false;
    }

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, request[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, reply[1], STDOUT_FILENO);

    const char * argv[] = {"evaluator", "serve", path_model, nullptr};
    const int failed = posix_spawn(&pid, program, &actions, nullptr, const_cast<char **>(argv), environ);
    posix_spawn_file_actions_destroy(&actions);
    close_fd(request[0]);
    close_fd(reply[1]);
    to = request[1];
    from = reply[0];
    if (failed) {
        pid = -1;
        why = std::string("cannot start the evaluator: ") + strerror(failed);
        return false;
    }
    return true;
}

Outcome Evaluator::greet(std::string & why) {
    uint32_t head[3];
    std::string message;
    if (!read_all(head, sizeof(head)) || head[0] != kMagic || !read_message(message)) {
        why = "no greeting, and " + finish();
        return Outcome::kFailed;
    }
    if (head[1] != kProtocol) {
        why = "the evaluator speaks protocol " + std::to_string(head[1]) + ", expected " + std::to_string(kProtocol);
        return Outcome::kFailed;
    }
    if (head[2] != kOk) {
        why = message;
        return head[2] == kRaised ? Outcome::kRaises : Outcome::kFailed;
    }
    said = message;
    return Outcome::kDone;
}

Outcome Evaluator::predict(int64_t n_mel, int64_t n_ctx, const float * mel, MultiArray & out, std::string & why) {
    const int64_t most = std::numeric_limits<uint32_t>::max();
    if (n_mel < 1 || n_ctx < 1 || n_mel > most || n_ctx > most) {
        why = "an input of shape [1, " + std::to_string(n_mel) + ", " + std::to_string(n_ctx) + "]";
        return Outcome::kFailed;
    }
    if (to < 0) {
        why = "the evaluator has ended before";
        return Outcome::kFailed;
    }
    const uint32_t request[3] = {kPredict, uint32_t(n_mel), uint32_t(n_ctx)};
    uint32_t status = 0;
    std::string message;
    if (!write_all(request, sizeof(request)) || !write_all(mel, size_t(n_mel) * size_t(n_ctx) * sizeof(float)) ||
        !read_all(&status, sizeof(status)) || !read_message(message)) {
        why = "no reply, and " + finish();
        return Outcome::kFailed;
    }
    if (status != kOk && status != kOtherName) {
        why = message;
        return status == kRaised ? Outcome::kRaises : Outcome::kFailed;
    }
    out.feature = status == kOtherName ? message : "output";
    if (!read_array(out)) {
        why = "an output that breaks the protocol, and " + finish();
        return Outcome::kFailed;
    }
    return Outcome::kDone;
}

bool Evaluator::write_all(const void * data, size_t n) {
    NoSigpipe guard;
    const char * next = static_cast<const char *>(data);
    while (n > 0) {
        const ssize_t done = write(to, next, n);
        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done < 0) {
            return false;
        }
        next += done;
        n -= size_t(done);
    }
    return true;
}

bool Evaluator::read_all(void * data, size_t n) {
    char * next = static_cast<char *>(data);
    while (n > 0) {
        const ssize_t done = read(from, next, n);
        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done <= 0) {
            return false;
        }
        next += done;
        n -= size_t(done);
    }
    return true;
}

bool Evaluator::read_message(std::string & message) {
    uint32_t n = 0;
    if (!read_all(&n, sizeof(n)) || n > kMaxMessage) {
        return false;
    }
    message.resize(n);
    return n == 0 || read_all(&message[0], n);
}

bool Evaluator::read_array(MultiArray & out) {
    uint32_t head[2];  // element type, rank
    if (!read_all(head, sizeof(head)) || head[1] > kMaxRank) {
        return false;
    }
    out.dtype = head[0];
    out.shape.resize(head[1]);
    out.strides.resize(head[1]);
    const size_t extents = head[1] * sizeof(uint64_t);
    uint64_t n_bytes = 0;
    if (!read_all(out.shape.data(), extents) || !read_all(out.strides.data(), extents) ||
        !read_all(&n_bytes, sizeof(n_bytes)) || n_bytes > kMaxBytes) {
        return false;
    }
    uint64_t count = 1;
    for (uint64_t extent : out.shape) {
        if (extent != 0 && count > kMaxBytes / extent) {
            return false;
        }
        count *= extent;
    }

    // Upstream's copy reads count * sizeof(float) bytes from an output of any element type, so a float16 one
    // is read past its end. What lies there on a Mac is some other memory; here it is zeros, so that
    // two runs agree. Under a sanitizer there is no such room, and it sees the fault as it is.
    size_t room = size_t(n_bytes);
#if !defined(COREML_GATE_ADDRESS_SANITIZER)
    room = std::max(room, size_t(count) * sizeof(float));
#endif
    out.n_bytes = size_t(n_bytes);
    out.data.reset(new unsigned char[room]());
    return out.n_bytes == 0 || read_all(out.data.get(), out.n_bytes);
}

std::string Evaluator::finish() {
    close_fd(to);
    close_fd(from);
    if (pid < 0) {
        return "the evaluator has ended";
    }
    int status = 0;
    pid_t ended = 0;
    useconds_t pause = kFirstPause;
    for (useconds_t waited = 0; waited < kGoodbye && ended == 0; waited += pause, pause = std::min(2 * pause, kLongestPause)) {
        ended = waitpid(pid, &status, WNOHANG);
        if (ended < 0 && errno == EINTR) {
            ended = 0;
        } else if (ended == 0) {
            usleep(pause);
        }
    }
    bool killed = false;
    if (ended == 0) {
        kill(pid, SIGKILL);
        killed = true;
        while ((ended = waitpid(pid, &status, 0)) < 0 && errno == EINTR) {
        }
    }
    pid = -1;
    if (ended < 0) {
        return "the evaluator's end was not seen";  // someone else waits for our children
    }
    return killed ? "the evaluator did not end, and was killed" : describe(status);
}

}  // namespace coreml_gate
