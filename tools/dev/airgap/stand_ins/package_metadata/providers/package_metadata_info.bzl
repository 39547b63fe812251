"""Stand-in for @package_metadata: the provider's shape, and no data."""

PackageMetadataInfo = provider(
    doc = "Where a package came from.",
    fields = ["attributes", "files", "metadata"],
)
