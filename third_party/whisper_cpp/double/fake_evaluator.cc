// An evaluator that misbehaves on demand, for tests of the bridges: FAKE_EVALUATOR names what it does, or is
// reply:TYPE:SHAPE:STRIDES:BYTES, such as reply:65568:1,2,3:6,3,1:24, for any output.

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

void put(const void * data, size_t n) {
    const char * next = static_cast<const char *>(data);
    while (n > 0) {
        const ssize_t done = write(STDOUT_FILENO, next, n);
        if (done <= 0) {
            _exit(9);
        }
        next += done;
        n -= size_t(done);
    }
}

bool get(void * data, size_t n) {
    char * next = static_cast<char *>(data);
    while (n > 0) {
        const ssize_t done = read(STDIN_FILENO, next, n);
        if (done <= 0) {
            return false;
        }
        next += done;
        n -= size_t(done);
    }
    return true;
}

void put32(uint32_t v) { put(&v, sizeof(v)); }
void put64(uint64_t v) { put(&v, sizeof(v)); }

void put_text(const std::string & text) {
    put32(uint32_t(text.size()));
    put(text.data(), text.size());
}

void greet(uint32_t magic, uint32_t version, uint32_t status, const std::string & message) {
    put32(magic);
    put32(version);
    put32(status);
    put_text(message);
}

// A reply of the given shape whose data is n_bytes of 1, 2, 3, ... as float32.
void reply(uint32_t dtype, const std::vector<uint64_t> & shape, const std::vector<uint64_t> & strides, uint64_t n_bytes) {
    put32(0);
    put_text("");
    put32(dtype);
    put32(uint32_t(shape.size()));
    for (uint64_t extent : shape) {
        put64(extent);
    }
    for (uint64_t stride : strides) {
        put64(stride);
    }
    put64(n_bytes);
    std::vector<float> data(n_bytes / sizeof(float) + 1);
    for (size_t i = 0; i < data.size(); i++) {
        data[i] = float(i + 1);
    }
    put(data.data(), n_bytes);
}

// The same with strides that nobody looks at.
void reply(uint32_t dtype, const std::vector<uint64_t> & shape, uint64_t n_bytes) {
    reply(dtype, shape, std::vector<uint64_t>(shape.size(), 7), n_bytes);
}

std::vector<std::string> split(const std::string & text, char by) {
    std::vector<std::string> parts;
    for (size_t at = 0; at <= text.size();) {
        const size_t end = std::min(text.find(by, at), text.size());
        if (end > at) {
            parts.push_back(text.substr(at, end - at));
        }
        at = end + 1;
    }
    return parts;
}

std::vector<uint64_t> numbers(const std::string & text) {
    std::vector<uint64_t> values;
    for (const std::string & part : split(text, ',')) {
        values.push_back(strtoull(part.c_str(), nullptr, 10));
    }
    return values;
}

// What follows "reply:". A scalar's shape is "-".
void reply_as_told(const std::string & told) {
    const std::vector<std::string> parts = split(told, ':');
    if (parts.size() != 4) {
        _exit(10);
    }
    const bool scalar = parts[1] == "-";
    reply(uint32_t(strtoul(parts[0].c_str(), nullptr, 10)), scalar ? std::vector<uint64_t>() : numbers(parts[1]),
          scalar ? std::vector<uint64_t>() : numbers(parts[2]), strtoull(parts[3].c_str(), nullptr, 10));
}

}  // namespace

int main(int argc, char ** argv) {
    const char * named = getenv("FAKE_EVALUATOR");
    const std::string mode = named ? named : "";
    const uint32_t magic = 0x56454743;
    if (argc != 3 || std::string(argv[1]) != "serve") {
        return 8;
    }
    if (mode == "silent") {
        return 7;
    }
    if (mode == "load-raises") {
        greet(magic, 1, 2, "no plan");
        return 1;
    }
    if (mode == "load-fails") {
        greet(magic, 1, 1, std::string("no model in ") + argv[2] + "\nwhisper_init_state: Core ML model loaded");
        return 0;
    }
    greet(mode == "bad-magic" ? 1 : magic, mode == "newer" ? 2 : 1, 0, mode == "greets" ? "kernel of\na test" : "");

    uint32_t head[3];
    while (get(head, sizeof(head)) && head[0] == 1) {
        std::vector<float> mel(size_t(head[1]) * head[2]);
        if (mode == "dies") {
            raise(SIGKILL);
        }
        if (!get(mel.data(), mel.size() * sizeof(float))) {
            return 6;
        }
        if (mode == "prediction-fails") {
            put32(1);
            put_text("shape");
        } else if (mode == "raises") {
            put32(2);
            put_text("-[MLMultiArray dataPointer]: not contiguous");
        } else if (mode == "renamed") {
            put32(3);
            put_text("encoder_output_embeds");
            put32(65568);
            put32(1);
            put64(1);
            put64(1);
            put64(4);
            put32(0);
        } else if (mode.compare(0, 6, "reply:") == 0) {
            reply_as_told(mode.substr(6));
        } else if (mode == "too-large") {
            reply(65568, {1, 4, 3}, 48);
        } else if (mode == "too-small") {
            reply(65568, {1, 1, 3}, 12);
        } else if (mode == "float16") {
            reply(65552, {1, 2, 3}, 12);
        } else if (mode == "padded") {
            reply(65568, {1, 2, 3}, 64);
        } else if (mode == "rank") {
            reply(65568, std::vector<uint64_t>(17, 1), 4);
        } else if (mode == "overflow") {
            reply(65568, {uint64_t(1) << 40, uint64_t(1) << 40}, 4);
        } else if (mode == "cut-short") {
            put32(0);
            return 0;
        } else if (mode == "echo") {
            put32(0);
            put_text("");
            put32(65568);
            put32(1);
            put64(mel.size());
            put64(1);
            put64(mel.size() * sizeof(float));
            put(mel.data(), mel.size() * sizeof(float));
        } else {
            reply(65568, {1, 2, 3}, 24);
        }
    }
    return 0;
}
