"""Stand-in for @apple_support's apple_support struct.

Rules that use it load and can be analysed for a Mac from Linux, so that a test can
see which action they make. The action has the environment and the execution
requirements that the real one gives it; there is no Mac here to run it.
"""

_CPUS = ["arm64", "arm64e", "arm64_32", "armv7k", "x86_64"]
_SYSTEMS = ["ios", "macos", "tvos", "visionos", "watchos"]

_PATH_LEVELS = struct(
    none = None,
    args = "args",
    args_and_files = "args_and_files",
)

def _constraint(label):
    return attr.label(default = Label(label), providers = [platform_common.ConstraintValueInfo])

def _action_required_attrs():
    return {
        "_xcode_config": attr.label(
            default = configuration_field(fragment = "apple", name = "xcode_config_label"),
        ),
    }

def _platform_constraint_attrs():
    attrs = {"_{}_constraint".format(cpu): _constraint("@platforms//cpu:" + cpu) for cpu in _CPUS}
    for system in _SYSTEMS:
        attrs["_{}_constraint".format(system)] = _constraint("@platforms//os:" + system)
    for environment in ["device", "simulator"]:
        attrs["_apple_{}_constraint".format(environment)] = _constraint("//constraints:" + environment)
    return attrs

def _with_xcode(xcode_config, apple_fragment, env = None, execution_requirements = None, **kwargs):
    """Xcode's settings come last: a caller cannot replace them."""
    return {"use_default_shell_env": True} | kwargs | {
        "env": (env or {}) |
               apple_common.apple_host_system_env(xcode_config) |
               apple_common.target_apple_env(xcode_config, apple_fragment.single_arch_platform),
        "execution_requirements": (execution_requirements or {}) | xcode_config.execution_info(),
    }

def _run(*, actions, xcode_config, apple_fragment, xcode_path_resolve_level = _PATH_LEVELS.none, **kwargs):
    if xcode_path_resolve_level != _PATH_LEVELS.none:
        fail("apple_support.run: the stand-in of tools/dev/airgap knows xcode_path_resolve_level none only, found {}".format(xcode_path_resolve_level))
    actions.run(**_with_xcode(xcode_config, apple_fragment, **kwargs))

def _run_shell(*, actions, xcode_config, apple_fragment, **kwargs):
    actions.run_shell(**_with_xcode(xcode_config, apple_fragment, **kwargs))

def _first_that_holds(ctx, kind, names, prefix, fail_on_missing_constraint):
    for name in names:
        constraint = getattr(ctx.attr, "_{}{}_constraint".format(prefix, name))
        if ctx.target_platform_has_constraint(constraint[platform_common.ConstraintValueInfo]):
            return name
    if fail_on_missing_constraint:
        fail("{}: expected an Apple platform with one of the {} constraints {}, found none of them".format(ctx.label, kind, ", ".join(names)))
    return None

def _target_arch(ctx, *, fail_on_missing_constraint = True):
    return _first_that_holds(ctx, "cpu", _CPUS, "", fail_on_missing_constraint)

def _target_environment(ctx, *, fail_on_missing_constraint = True):
    return _first_that_holds(ctx, "environment", ["device", "simulator"], "apple_", fail_on_missing_constraint)

def _target_os(ctx, *, fail_on_missing_constraint = True):
    return _first_that_holds(ctx, "os", _SYSTEMS, "", fail_on_missing_constraint)

apple_support = struct(
    action_required_attrs = _action_required_attrs,
    platform_constraint_attrs = _platform_constraint_attrs,
    run = _run,
    run_shell = _run_shell,
    target_arch_from_rule_ctx = _target_arch,
    target_environment_from_rule_ctx = _target_environment,
    target_os_from_rule_ctx = _target_os,
    xcode_path_resolve_level = _PATH_LEVELS,
)
