"""Stand-in for @rules_apple//apple:macos.bzl: the rule loads, and fits no machine but a Mac."""

load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

def _macos_command_line_application_impl(ctx):
    binary = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.run_shell(
        outputs = [binary],
        command = "echo >&2 '{}: the stand-in for rules_apple builds nothing'; exit 1".format(ctx.label),
        mnemonic = "StandIn",
    )
    return [DefaultInfo(executable = binary, files = depset([binary]))]

_macos_command_line_application = rule(
    implementation = _macos_command_line_application_impl,
    attrs = {
        "additional_linker_inputs": attr.label_list(allow_files = True),
        "bundle_id": attr.string(),
        "codesign_inputs": attr.label_list(),
        "codesignopts": attr.string_list(),
        "deps": attr.label_list(providers = [CcInfo]),
        "exported_symbols_lists": attr.label_list(allow_files = True),
        "infoplists": attr.label_list(allow_files = [".plist"]),
        "launchdplists": attr.label_list(allow_files = [".plist"]),
        "linkopts": attr.string_list(),
        "minimum_deployment_os_version": attr.string(),
        "minimum_os_version": attr.string(mandatory = True),
        "provisioning_profile": attr.label(allow_single_file = True),
        "stamp": attr.int(default = -1),
        "version": attr.label(),
    },
    executable = True,
)

def macos_command_line_application(name, target_compatible_with = [], **kwargs):
    """The real one's attributes; incompatible with every platform but macOS.

    Args:
      name: the target's name.
      target_compatible_with: as for every rule.
      **kwargs: the real macro's other attributes.
    """
    _macos_command_line_application(
        name = name,
        target_compatible_with = ["@platforms//os:macos"] + [c for c in target_compatible_with if c != "@platforms//os:macos"],
        **kwargs
    )
