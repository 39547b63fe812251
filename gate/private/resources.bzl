"""What an action that runs whisper-cli takes of a machine.

ggml's threads wait for each other by spinning: two runs that share their processors take many times
as long as one after the other. And two runs that share a memory that holds one of them end in the system killing one.
"""

load("//gate/private:memory.bzl", "MODEL_MEMORY_MIB")

visibility("//gate/...")

# Bazel takes a named function and calls it with no arguments of ours, so that there is one for each pair of steps.
def _cpu_1_mem_512(_os, _inputs):
    return {"cpu": 1, "memory": 512}

def _cpu_1_mem_1024(_os, _inputs):
    return {"cpu": 1, "memory": 1024}

def _cpu_1_mem_2048(_os, _inputs):
    return {"cpu": 1, "memory": 2048}

def _cpu_1_mem_5120(_os, _inputs):
    return {"cpu": 1, "memory": 5120}

def _cpu_1_mem_10240(_os, _inputs):
    return {"cpu": 1, "memory": 10240}

def _cpu_2_mem_512(_os, _inputs):
    return {"cpu": 2, "memory": 512}

def _cpu_2_mem_1024(_os, _inputs):
    return {"cpu": 2, "memory": 1024}

def _cpu_2_mem_2048(_os, _inputs):
    return {"cpu": 2, "memory": 2048}

def _cpu_2_mem_5120(_os, _inputs):
    return {"cpu": 2, "memory": 5120}

def _cpu_2_mem_10240(_os, _inputs):
    return {"cpu": 2, "memory": 10240}

def _cpu_4_mem_512(_os, _inputs):
    return {"cpu": 4, "memory": 512}

def _cpu_4_mem_1024(_os, _inputs):
    return {"cpu": 4, "memory": 1024}

def _cpu_4_mem_2048(_os, _inputs):
    return {"cpu": 4, "memory": 2048}

def _cpu_4_mem_5120(_os, _inputs):
    return {"cpu": 4, "memory": 5120}

def _cpu_4_mem_10240(_os, _inputs):
    return {"cpu": 4, "memory": 10240}

def _cpu_8_mem_512(_os, _inputs):
    return {"cpu": 8, "memory": 512}

def _cpu_8_mem_1024(_os, _inputs):
    return {"cpu": 8, "memory": 1024}

def _cpu_8_mem_2048(_os, _inputs):
    return {"cpu": 8, "memory": 2048}

def _cpu_8_mem_5120(_os, _inputs):
    return {"cpu": 8, "memory": 5120}

def _cpu_8_mem_10240(_os, _inputs):
    return {"cpu": 8, "memory": 10240}

_STEPS = {
    1: {512: _cpu_1_mem_512, 1024: _cpu_1_mem_1024, 2048: _cpu_1_mem_2048, 5120: _cpu_1_mem_5120, 10240: _cpu_1_mem_10240},
    2: {512: _cpu_2_mem_512, 1024: _cpu_2_mem_1024, 2048: _cpu_2_mem_2048, 5120: _cpu_2_mem_5120, 10240: _cpu_2_mem_10240},
    4: {512: _cpu_4_mem_512, 1024: _cpu_4_mem_1024, 2048: _cpu_4_mem_2048, 5120: _cpu_4_mem_5120, 10240: _cpu_4_mem_10240},
    8: {512: _cpu_8_mem_512, 1024: _cpu_8_mem_1024, 2048: _cpu_8_mem_2048, 5120: _cpu_8_mem_5120, 10240: _cpu_8_mem_10240},
}

def _step(steps, value):
    """The first step that is no less than value, else the last."""
    for step in sorted(steps):
        if value <= step:
            return step
    return sorted(steps)[-1]

def model_memory(name):
    """The MiB that a run of a model claims, by what its file is called; that of `small` where its name says no size.

    Args:
      name: of the `.bin`.

    Returns:
      A number of MiB. The bytes are not known when Bazel asks; coregate fit reads them before a run starts.
    """
    for size, mib in MODEL_MEMORY_MIB.items():
        if size in name:
            return mib
    return MODEL_MEMORY_MIB["small"]

def whisper_resources(threads, model, runs = 1):
    """The resource_set of an action whose whisper-cli has so many threads and such a model.

    Args:
      threads: of whisper-cli.
      model: File, the `.bin`.
      runs: how many of them run at once.

    Returns:
      A function, as ctx.actions.run takes it.
    """
    of_cpu = _STEPS[_step(_STEPS, threads * runs)]
    return of_cpu[_step(of_cpu, runs * model_memory(model.basename))]
