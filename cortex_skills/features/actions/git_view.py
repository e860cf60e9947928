"""A view of a git repository that has none of its configuration.

Rules kept here:
- the repository is `.git` of the workspace, a folder; git looks for no other, and none that is in the data is used. One
  with a part that is elsewhere is refused: without it git would answer as if it were empty;
- git sees its objects, references, index and state. The configuration is written here: of the one of the repository it
  has the format of the objects and of the references, and how the file system is compared, each with a value of a few
  letters. So no alias, hook, filter, external diff, pager, monitor, credential helper, protocol, remote, signature
  program or included file of the repository has an effect, nor one that a later git adds;
- the view is a private temporary folder of symbolic links, as git's own `git-new-workdir` makes it.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from cortex_skills.errors import CortexError
from cortex_skills.safe_io.outside_file import OutsideFileError, read_outside
from cortex_skills.safe_io.schemas import shown

ENVIRONMENT: Mapping[str, str] = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_ASKPASS": "true",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_EDITOR": "true",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
}
_MAX_BYTES = 1 << 16
# What git reads of a repository besides its configuration, hooks and attributes (gitrepository-layout(5)).
_SEEN = (
    *("objects", "refs", "packed-refs", "reftable", "logs", "index", "sharedindex.*", "shallow"),
    *("ORIG_HEAD", "FETCH_HEAD", "MERGE_HEAD", "MERGE_MSG", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_*"),
    *("rebase-merge", "rebase-apply", "sequencer"),
)
_SECTION = re.compile(r"\s*\[\s*([A-Za-z0-9.-]+)\s*\]", re.ASCII)
_KEY = re.compile(r"\s*([A-Za-z][A-Za-z0-9-]*)\s*=\s*([A-Za-z0-9]{1,10})\s*(?:[#;].*)?", re.ASCII)
_KEPT = {
    "core": ("filemode", "ignorecase", "symlinks", "precomposeunicode", "autocrlf", "eol", "quotepath"),
    "extensions": ("objectformat", "refstorage"),
}


@contextmanager
def git_view(workspace: Path) -> Iterator[tuple[Path, Path]]:
    """The repository of a workspace and a view of it, which exists inside the `with` statement.

    Args:
        workspace: its path, without symbolic links.

    Raises:
        CortexError: `action_failed`: the workspace has no repository, or one that is elsewhere.
    """
    repository = workspace / ".git"
    if repository.is_symlink() or not repository.is_dir():
        hint = "git reads the repository of the workspace only, not one in a folder below"
        raise CortexError("action_failed", "the workspace is no git repository: it has no folder .git", hint=hint)
    try:
        head = read_outside(repository / "HEAD", _MAX_BYTES)
        config = repository / "config"
        kept = settings_of(read_outside(config, _MAX_BYTES).decode("utf-8", "replace") if config.exists() else "")
    except OutsideFileError as error:
        hint = "git reads a repository whose HEAD and config are plain files"
        raise CortexError("action_failed", f"the git repository of the workspace: a file {error}", hint=hint) from None
    view = Path(tempfile.mkdtemp(prefix="cortex-git-")).resolve()
    try:
        (view / "HEAD").write_bytes(head)
        (view / "config").write_text(kept)
        (view / "info").mkdir()
        for pattern in (*_SEEN, "info/exclude", "info/sparse-checkout"):
            for path in repository.glob(pattern):
                name = path.relative_to(repository)
                if path.is_symlink():
                    problem = f"the git repository of the workspace: {shown(str(name))} is a symbolic link"
                    raise CortexError(
                        "action_failed", problem, hint="git reads a repository that is whole in its folder"
                    )
                (view / name).symlink_to(path)
        yield repository, view
    finally:
        shutil.rmtree(view, ignore_errors=True)


def settings_of(config: str) -> str:
    r"""The configuration of a view, for the configuration of a repository.

    >>> print(settings_of('[core]\n bare = true\n fileMode = false\n pager = sh\n[alias]\n eol = "!sh"'))
    [index]
    threads = 1
    [core]
    preloadindex = false
    repositoryformatversion = 0
    bare = false
    filemode = false
    """
    section = ""
    found: dict[str, dict[str, str]] = {name: {} for name in _KEPT}
    for line in config.splitlines():
        if begun := _SECTION.match(line):
            section, line = begun[1].lower(), line[begun.end() :]
        elif line.lstrip().startswith("["):
            section = ""
        if (pair := _KEY.fullmatch(line)) and pair[1].lower() in _KEPT.get(section, ()):
            found[section][pair[1].lower()] = pair[2].lower()
    version = "1" if found["extensions"] else "0"
    lines = ["[index]", "threads = 1", "[core]", "preloadindex = false"]  # it may start no thread
    lines += [f"repositoryformatversion = {version}", "bare = false", *_lines(found["core"])]
    return "\n".join([*lines, *(["[extensions]", *_lines(found["extensions"])] if found["extensions"] else [])])


def _lines(values: Mapping[str, str]) -> list[str]:
    return [f"{key} = {value}" for key, value in values.items()]
