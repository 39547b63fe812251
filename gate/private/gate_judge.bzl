"""gate_judge: one judgement over the evidence of a gate's runs."""

load("//gate/private:judgements.bzl", "JUDGEMENTS")
load("//gate/private:messages.bzl", "two_runs_of_a_kind")
load("//gate/private/providers:gate_judgement_info.bzl", "GateJudgementInfo")
load("//gate/private/providers:whisper_run_info.bzl", "WhisperRunInfo")

visibility("//gate/...")

_RUNS = [name for name, kind in JUDGEMENTS.items() if kind.source == "runs"]

def _gate_judge_impl(ctx):
    runs = {}
    for target in ctx.attr.runs:
        run = target[WhisperRunInfo]
        if run.kind in runs:
            fail(two_runs_of_a_kind(ctx.label, run.kind))
        runs[run.kind] = run
    judgement = ctx.actions.declare_file(ctx.label.name + ".json")
    args = ctx.actions.args()
    args.add(ctx.attr.judgement, format = "--judgement=%s")
    for kind, run in runs.items():
        args.add(run.evidence, format = "--" + kind + "=%s")
    args.add(ctx.file.reference, format = "--reference=%s")
    args.add(ctx.file.policy, format = "--policy=%s")
    args.add(judgement, format = "--out=%s")
    ctx.actions.run(
        mnemonic = "GateJudge",
        progress_message = "Judging " + ctx.attr.judgement + " for %{label}",
        executable = ctx.executable._judge,
        arguments = [args],
        inputs = [run.evidence for run in runs.values()] + [ctx.file.reference, ctx.file.policy],
        outputs = [judgement],
        env = {},
    )
    some = runs.values()[0]
    return [
        DefaultInfo(files = depset([judgement])),
        GateJudgementInfo(
            name = ctx.attr.judgement,
            judgement = judgement,
            lane = some.lane,
            model = some.model,
            encoder = runs["coreml"].encoder if "coreml" in runs else None,
            cli = runs["coreml"].cli if "coreml" in runs else None,
            contrast_cli = runs["contrast"].cli if "contrast" in runs else None,
        ),
    ]

gate_judge = rule(
    implementation = _gate_judge_impl,
    doc = """Writes `<name>.json`: one judgement over the evidence of a gate's runs.

The judgement is written whatever it says; a gate_test turns red. A run that is left out is evidence that is missing, and
what needs it fails.""",
    attrs = {
        "judgement": attr.string(
            mandatory = True,
            values = _RUNS,
            doc = "Which judgement.",
        ),
        "runs": attr.label_list(
            mandatory = True,
            allow_empty = False,
            providers = [WhisperRunInfo],
            doc = "The whisper_run targets of the gate, one of each kind.",
        ),
        "reference": attr.label(
            mandatory = True,
            allow_single_file = True,
            doc = "Text file with the words that the audio holds.",
        ),
        "policy": attr.label(
            default = "//gate/policy:default",
            allow_single_file = [".json"],
            doc = "The frozen policy of kind gate.",
        ),
        "_judge": attr.label(
            default = "//tools/actions/gate_judge",
            executable = True,
            cfg = "exec",
        ),
    },
    provides = [GateJudgementInfo],
)
