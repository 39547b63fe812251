"""encoder_placement: where an encoder runs, as a judgement."""

load("//gate/private:checks.bzl", "PLACEMENT_POLICIES", "check_policy", "check_stand_in")
load("//gate/private:core_ml_toolchain.bzl", "RUN", "core_ml")
load("//gate/private:encoder_judgement.bzl", "encoder_judgement_rule", "judge_encoder", "lane_identity")

visibility("//gate/...")

def _encoder_placement_impl(ctx):
    check_policy(ctx.label, "policy", ctx.attr.policy, PLACEMENT_POLICIES)
    lane = core_ml(ctx)
    check_stand_in(ctx.label, lane.lane, ctx.attr.stand_in)
    stand_in = ctx.attr.stand_in[DefaultInfo].files_to_run if ctx.attr.stand_in else None
    return judge_encoder(
        ctx,
        name = "placement",
        mnemonic = "GatePlacement",
        message = "Reading where %{label} runs",
        judge = ctx.executable._judge,
        options = {
            "lane": lane.lane,
            "policy": ctx.attr.policy,
        },
        # Core ML places operations anew on every build of macOS and every chip.
        files = {"identity": lane_identity(ctx)},
        lists = {"trace": ctx.files.trace},
        outputs = {"record": ".plan.json"},
        tools = {"probe": lane.plan or stand_in},
        requirements = lane.run_requirements if lane.plan else {},
    )

encoder_placement = encoder_judgement_rule(
    implementation = _encoder_placement_impl,
    judge = "//tools/actions/gate_placement",
    doc = """Writes `<name>.json`, the judgement `placement` over a compiled encoder, and `<name>.plan.json`, the compute plan that was read.

On the physical lane Core ML is asked for the machine's devices and for the encoder's compute plan (MLComputePlan, macOS 14.4 or
later), in a process of its own. A frozen policy says how much of the estimated cost must be on which device. Where it demands the
Neural Engine and the device list has none, nothing else is asked. The emulated lane places nothing: its judgement is inconclusive,
and says so. docs/placement.md has the policies and what a pass does not say.""",
    attrs = {
        "policy": attr.string(
            default = "placement_plan_v1",
            doc = "Name of a frozen policy of kind placement: `placement_plan_v1`, or `placement_trace_v1` with `trace`.",
        ),
        "trace": attr.label_list(
            allow_files = [
                ".json",
                ".xml",
            ],
            doc = "`recording.json`, `toc.xml` and `intervals.xml` of a recording that `coregate placement record` made on a Mac.",
        ),
        "stand_in": attr.label(
            executable = True,
            cfg = config.exec(RUN),
            doc = "For tests of the rules on the emulated lane: coremlprobe over the stand-in for Core ML. Its plans are marked as the stand-in's, and none passes.",
        ),
    },
)
