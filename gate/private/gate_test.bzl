"""gate_test: judgements, as a test."""

load("//gate/private:messages.bzl", "judgement_missing", "judgement_twice")
load("//gate/private/providers:gate_judgement_info.bzl", "GateJudgementInfo")

visibility("//gate/...")

def _runfile(ctx, file):
    if file.short_path.startswith("../"):
        return file.short_path[3:]
    return ctx.workspace_name + "/" + file.short_path

def _gate_test_impl(ctx):
    infos = [target[GateJudgementInfo] for target in ctx.attr.judgements]
    names = [info.name for info in infos]
    for i, name in enumerate(names):
        if name in names[:i]:
            fail(judgement_twice(ctx.label, name))
    for name in ctx.attr.required:
        if name not in names:
            fail(judgement_missing(ctx.label, name, names))

    # What the test reads is named here alone: no argument and no variable of the caller's names another file.
    manifest = ctx.actions.declare_file(ctx.label.name + ".gate.json")
    ctx.actions.write(manifest, json.encode_indent({
        "schema": 1,
        "label": "//{}:{}".format(ctx.label.package, ctx.label.name),
        "expect": ctx.attr.expect,
        "judgements": [{"name": info.name, "file": _runfile(ctx, info.judgement)} for info in infos],
    }) + "\n")
    executable = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.symlink(
        output = executable,
        target_file = ctx.executable._verdict,
        is_executable = True,
    )
    runfiles = ctx.runfiles(files = [manifest] + [info.judgement for info in infos])
    return [
        DefaultInfo(executable = executable, runfiles = runfiles.merge(ctx.attr._verdict[DefaultInfo].default_runfiles)),
        RunEnvironmentInfo(environment = {"GATE_TEST": _runfile(ctx, manifest)}),
    ]

gate_test = rule(
    implementation = _gate_test_impl,
    doc = """Passes if judgements pass, and prints the reasons of those that do not.

It reads what the judging actions wrote and judges nothing again, so a second run of the test can only read the same
first run of whisper-cli. Arguments, filters and shards select nothing: the test judges all, or fails.""",
    attrs = {
        "judgements": attr.label_list(
            mandatory = True,
            allow_empty = False,
            providers = [GateJudgementInfo],
            doc = "What has to pass: a gate_judge, an artifact_contract, an encoder_parity, an encoder_placement, a whisper_words.",
        ),
        "required": attr.string_list(
            doc = "Names of judgements that must be among them; one that is missing is an error at analysis.",
        ),
        "expect": attr.string_list(
            doc = "For tests of the gates themselves: no judgement may pass, and each must have one of these reason codes.",
        ),
        "_verdict": attr.label(
            default = "//gate/tests:verdict",
            executable = True,
            # A test runs on an execution platform, as actions do; so the Go of a gate is compiled once.
            cfg = "exec",
        ),
    },
    test = True,
)
