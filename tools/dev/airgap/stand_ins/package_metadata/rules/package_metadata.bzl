"""Stand-in for @package_metadata: accepts the attributes, carries no data."""

load("//providers:package_metadata_info.bzl", "PackageMetadataInfo")

def _package_metadata_impl(_ctx):
    return [DefaultInfo(), PackageMetadataInfo(attributes = [], files = depset(), metadata = None)]

_package_metadata = rule(
    implementation = _package_metadata_impl,
    attrs = {"attributes": attr.label_list(), "purl": attr.string()},
)

def package_metadata(name, **kwargs):
    # Without this the target would depend on itself through default_package_metadata.
    _package_metadata(name = name, applicable_licenses = [], **kwargs)
