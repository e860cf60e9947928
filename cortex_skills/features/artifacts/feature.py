"""The feature `artifacts`. Signed artifacts: package, index, install, run."""

from cortex_skills.feature import Feature

FEATURE = Feature(
    name="artifacts",
    rank=60,
    operations=(
        "cortex_skills.features.artifacts.artifact_operations",
        "cortex_skills.features.artifacts.examination",
        "cortex_skills.features.artifacts.installation_operations",
        "cortex_skills.features.artifacts.package_operations",
    ),
    rest=("cortex_skills.features.artifacts.rest.installed_operations",),
    pages=(
        "cortex_skills.features.artifacts.pages.artifact_list",
        "cortex_skills.features.artifacts.pages.artifact_page",
        "cortex_skills.features.artifacts.pages.install_page",
    ),
    attention=("cortex_skills.features.artifacts.pages.artifact_list:attention",),
    commands={
        "Share skills": {
            "package": "cortex_skills.features.artifacts.cli.package:package",
            "card": "cortex_skills.features.artifacts.cli.card:card",
        },
        "Exchange": {
            "trust import": "cortex_skills.features.artifacts.cli.trust_import:import_",
            "trust export": "cortex_skills.features.artifacts.cli.trust_import:export",
        },
        "Install artifacts": {
            "install": "cortex_skills.features.artifacts.cli.install:install",
            "installed": "cortex_skills.features.artifacts.cli.installed:installed",
            "audit-artifact": "cortex_skills.features.artifacts.cli.installed:audit_artifact",
            "quarantine": "cortex_skills.features.artifacts.cli.installed:quarantine",
            "enable": "cortex_skills.features.artifacts.cli.installed:enable",
        },
        "Keep skills": {
            "index": "cortex_skills.features.artifacts.cli.index:index",
        },
    },
    attach=("cortex_skills.features.artifacts.attach:attach",),
    tasks=("cortex_skills.features.artifacts.periodic_audit:audit_artifacts",),
    routes=("cortex_skills.features.artifacts.index_files:index_routes",),
    members=("cortex_skills.features.artifacts.artifact_members:ArtifactMembers",),
    copies=("cortex_skills.features.artifacts.installed.copied_artifacts:INSTALLED",),
    settings={
        "artifacts": "cortex_skills.features.artifacts.artifact_settings:ArtifactSettings",
    },
)
