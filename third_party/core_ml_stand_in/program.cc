#include "third_party/core_ml_stand_in/program.h"

#include <fstream>
#include <sstream>

namespace core_ml_stand_in {

namespace {

// The names on the left of a statement: the last word of each part between commas that no bracket encloses.
std::vector<std::string> names_of(const std::string &left) {
    std::vector<std::string> names;
    std::string part;
    int depth = 0;
    auto take = [&] {
        std::istringstream words(part);
        std::string word, last;
        while (words >> word) {
            last = word;
        }
        if (!last.empty()) {
            names.push_back(last);
        }
        part.clear();
    };
    for (char c : left) {
        depth += c == '<' || c == '[' || c == '(' ? 1 : c == '>' || c == ']' || c == ')' ? -1 : 0;
        if (c == ',' && depth == 0) {
            take();
        } else {
            part += c;
        }
    }
    take();
    return names;
}

// The opset as Core ML names it in a plan: a program says CoreML6 where its operations are of ios16.
std::string opset_of(const std::string &named) {
    if (named.size() == 7 && named.compare(0, 6, "CoreML") == 0 && named[6] >= '5' && named[6] <= '8') {
        return std::string("ios1") + named[6];
    }
    return named;
}

}  // namespace

bool read_operations(const std::string &model_path, std::vector<Operation> &operations, std::string &function, std::string &why) {
    std::ifstream file(model_path + "/model.mil");
    if (!file) {
        why = "there is no model.mil";
        return false;
    }
    std::string line, opset;
    while (std::getline(file, line)) {
        const size_t begin = line.find_first_not_of(" \t");
        if (begin == std::string::npos) {
            continue;
        }
        if (line.compare(begin, 5, "func ") == 0) {
            if (!function.empty()) {
                break;  // of another function
            }
            const size_t open = line.find('<', begin), close = line.find('>', begin);
            if (open == std::string::npos || close == std::string::npos || close < open) {
                break;
            }
            function = line.substr(begin + 5, open - begin - 5);
            opset = opset_of(line.substr(open + 1, close - open - 1));
            continue;
        }
        const size_t equals = line.find(" = ");
        const size_t paren = equals == std::string::npos ? equals : line.find('(', equals + 3);
        if (function.empty() || paren == std::string::npos) {
            continue;
        }
        const std::string name = line.substr(equals + 3, paren - equals - 3);
        operations.push_back({name == "const" ? name : opset + "." + name, names_of(line.substr(begin, equals - begin))});
    }
    if (function.empty()) {
        why = "model.mil has no function";
        return false;
    }
    return true;
}

}  // namespace core_ml_stand_in
