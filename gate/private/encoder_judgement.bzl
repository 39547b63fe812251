"""What the judgements over a model and its encoder have in common: attributes, arguments, action, result."""

load("//gate/private:core_ml_toolchain.bzl", "CORE_ML_TOOLCHAIN_TYPE", "RUN", "RUN_GROUP", "core_ml")
load("//gate/private:resources.bzl", "whisper_resources")
load("//gate/private/providers:coreml_encoder_info.bzl", "CoreMLEncoderInfo")
load("//gate/private/providers:gate_judgement_info.bzl", "GateJudgementInfo")

visibility("//gate/...")

ENCODER_JUDGEMENT_ATTRS = {
    "model": attr.label(
        mandatory = True,
        allow_single_file = True,
        doc = "The ggml `.bin`.",
    ),
    "encoder": attr.label(
        mandatory = True,
        providers = [CoreMLEncoderInfo],
        doc = "The compiled encoder: a coreml_encoder.",
    ),
}

def judge_encoder(ctx, name, mnemonic, message, judge, options = {}, files = {}, lists = {}, outputs = {}, tools = {}, requirements = {}):
    """Declares the action that writes `<name>.json`, a judgement over model and encoder.

    Args:
      ctx: of a rule made by encoder_judgement_rule.
      name: of the judgement, a key of JUDGEMENTS.
      mnemonic: of the action.
      message: its progress message.
      judge: the program that judges.
      options: values of the judge's flags by name; empty ones are left out.
      files: File, or None, by the name of the flag that names it.
      lists: lists of File by the name of the flag that names each of them.
      outputs: suffixes of files that the judge writes beside the judgement, by the name of the flag that names each.
      tools: FilesToRunProvider, or None, by the name of the flag that names it.
      requirements: execution requirements of the action.

    Returns:
      A list of providers.
    """
    encoder = ctx.attr.encoder[CoreMLEncoderInfo].compiled
    judgement = ctx.actions.declare_file(ctx.label.name + ".json")
    args = ctx.actions.args()
    args.add(ctx.file.model, format = "--model=%s")
    args.add_all([encoder], format_each = "--encoder=%s", expand_directories = False)
    given = [(flag, file) for flag, file in files.items() if file]
    given += [(flag, file) for flag, several in lists.items() for file in several]
    written = [(flag, ctx.actions.declare_file(ctx.label.name + suffix)) for flag, suffix in outputs.items()]
    programs = [(flag, tool) for flag, tool in tools.items() if tool]
    for flag, value in options.items():
        if value:
            args.add(value, format = "--" + flag + "=%s")
    for flag, file in given:
        args.add(file, format = "--" + flag + "=%s")
    for flag, tool in programs:
        args.add(tool.executable, format = "--" + flag + "=%s")
    for flag, file in written:
        args.add(file, format = "--" + flag + "=%s")
    args.add(judgement, format = "--out=%s")
    ctx.actions.run(
        mnemonic = mnemonic,
        progress_message = message,
        executable = judge,
        arguments = [args],
        inputs = [ctx.file.model, encoder] + [file for _, file in given],
        outputs = [judgement] + [file for _, file in written],
        tools = [tool for _, tool in programs],
        exec_group = RUN,
        execution_requirements = requirements,
        env = {},
        resource_set = whisper_resources(1, ctx.file.model),
    )
    return [
        DefaultInfo(files = depset([judgement] + [file for _, file in written])),
        GateJudgementInfo(
            name = name,
            judgement = judgement,
            lane = core_ml(ctx).lane,
            model = ctx.file.model,
            encoder = encoder,
            cli = None,
            contrast_cli = None,
        ),
    ]

def lane_identity(ctx):
    """The identity of the machine that a judgement of the physical lane depends on; None on the emulated one."""
    lane = core_ml(ctx)
    return lane.identity if lane.lane == "physical" else None

def encoder_judgement_rule(implementation, judge, doc, attrs):
    """A rule that judges a model and its encoder.

    Args:
      implementation: of the rule.
      judge: label of the program that judges, the attribute `_judge`.
      doc: of the rule.
      attrs: of the rule, beside ENCODER_JUDGEMENT_ATTRS.

    Returns:
      A rule.
    """
    return rule(
        implementation = implementation,
        doc = doc,
        attrs = ENCODER_JUDGEMENT_ATTRS | attrs | {
            "_judge": attr.label(
                default = judge,
                executable = True,
                cfg = config.exec(RUN),
            ),
        },
        provides = [GateJudgementInfo],
        exec_groups = RUN_GROUP,
        toolchains = [CORE_ML_TOOLCHAIN_TYPE],
    )
