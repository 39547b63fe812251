"""gate_test: one judgement over evidence, as a test."""

load("//gate/private/providers:whisper_run_info.bzl", "WhisperRunInfo")

visibility("//gate/...")

def _runfile(ctx, file):
    if file.short_path.startswith("../"):
        return file.short_path[3:]
    return ctx.workspace_name + "/" + file.short_path

def _gate_test_impl(ctx):
    executable = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.symlink(
        output = executable,
        target_file = ctx.executable.judge,
        is_executable = True,
    )
    files = []
    environment = {}
    for run, role in ctx.attr.runs.items():
        evidence = run[WhisperRunInfo].evidence
        files.append(evidence)
        environment["GATE_EVIDENCE_" + role.upper()] = _runfile(ctx, evidence)
    for target, variable in ctx.attr.inputs.items():
        (file,) = target[DefaultInfo].files.to_list()
        files.append(file)
        environment[variable] = _runfile(ctx, file)
    if ctx.attr.expect:
        environment["GATE_EXPECT"] = ",".join(ctx.attr.expect)

    runfiles = ctx.runfiles(files = files).merge(ctx.attr.judge[DefaultInfo].default_runfiles)
    return [
        DefaultInfo(executable = executable, runfiles = runfiles),
        RunEnvironmentInfo(environment = environment),
    ]

gate_test = rule(
    implementation = _gate_test_impl,
    doc = """Runs one of the go_tests under `//gate/tests` over the evidence of some runs.

Every gate of a model shares these programs, so that a thousand gates link them once.
The go_test finds each evidence through the runfiles path in `GATE_EVIDENCE_<ROLE>`.""",
    attrs = {
        "judge": attr.label(
            mandatory = True,
            executable = True,
            cfg = "target",
            doc = "The go_test that judges.",
        ),
        "runs": attr.label_keyed_string_dict(
            providers = [WhisperRunInfo],
            doc = "whisper_run targets, each with its role: `coreml`, `canary` or `contrast`.",
        ),
        "inputs": attr.label_keyed_string_dict(
            allow_files = True,
            doc = "Other single files that the judgement reads, each with the environment variable that shall name it.",
        ),
        "expect": attr.string_list(
            doc = "For tests of the gates themselves: the gate must fail, and for one of these reason codes.",
        ),
    },
    test = True,
)
