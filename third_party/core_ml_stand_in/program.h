// The operations of a compiled model's program, as far as the stand-in's compute plan names them.
#pragma once

#include <string>
#include <vector>

namespace core_ml_stand_in {

struct Operation {
    std::string operator_name;  // with its opset, such as ios16.conv; "const" for constants
    std::vector<std::string> outputs;
};

// Reads the statements of model.mil's first function, line by line. False, with why, where there is no such file or no function.
bool read_operations(const std::string &model_path, std::vector<Operation> &operations, std::string &function, std::string &why);

}  // namespace core_ml_stand_in
