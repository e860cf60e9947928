"""Skill documents drawn for property tests."""

from __future__ import annotations

import re

from hypothesis import strategies as st

from cortex_skills.features.registry.documents.document import SkillDocument, SkillResource, Step
from cortex_skills.manifest.skill_names import hyphenated

# Texts that YAML readers, front matter splitters and Markdown readers are known to misread.
TRAPS = [
    "yes", "no", "null", "~", "1.0", "1e3", "0x1f", "1:30", "2024-01-01", "- x", "{x", "[x", "a: b", "a #b", "'q'",
    '"q"', "---", "a\n---\nb", "\ttab", " lead", "trail ", "line\nbreak", "cr\rlf\r\n", "\x85\u2028\u2029", "\ufeffbom",
    "\u200b\u202e", "&a", "*a", "!t", "%d", "@x", "`x`", "|", ">", "?", "😀", "\\u002d", "\x7f\x80\x9f", "\ufffe",
]  # fmt: skip

texts = st.one_of(st.sampled_from(TRAPS), st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
filled = texts.filter(lambda text: text.strip())
descriptions = filled.filter(lambda text: not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", text))
names = st.from_regex(r"[a-z0-9]{1,8}([-_][a-z0-9]{1,6}){0,3}", fullmatch=True)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda members: st.lists(members, max_size=3) | st.dictionaries(texts, members, max_size=3),
    max_leaves=8,
)
segments = st.one_of(
    st.from_regex(r"[a-zA-Z0-9_äß]{1,8}(\.[a-z]{1,3})?", fullmatch=True), st.sampled_from(["a b.md", "ключ.txt"])
)
folders = st.sampled_from(["", "scripts/", "references/", "assets/", "resources/", "deep/er/"])
resources = st.lists(
    st.builds(SkillResource, st.builds(str.__add__, folders, segments), st.binary(max_size=40), st.booleans()),
    max_size=4,
    unique_by=lambda resource: resource.path.casefold(),
).map(tuple)
params = st.none() | st.dictionaries(texts, json_values, max_size=3)
steps = st.lists(st.builds(Step, filled, st.none() | filled, texts, params), max_size=3).map(tuple)
some_names = st.lists(names, max_size=3, unique=True).map(tuple)


namespaces = st.sampled_from(["mayros", "foo/observations", "foo.v2"])
entries = st.fixed_dictionaries({"namespace": namespaces}, optional={"min_depth": st.integers(0, 3)})
declared = st.lists(entries, max_size=3) | entries | st.just({"namespaces": ["mayros", "shared"], "min_depth": 1})


@st.composite
def documents(draw: st.DrawFn) -> SkillDocument:
    """A valid document of any kind."""
    name = draw(names)
    others = some_names.map(lambda found: tuple(other for other in found if hyphenated(other) != hyphenated(name)))
    numbered = st.sampled_from(
        [
            "1. **Read it** — use fs_read\n2. **Write it**: use `fs_write` at once\n",
            "1. **Read it** — via `fs_read`\n2. **Write it** using fs_write\n3. **Think** — use the log\n",
        ]
    )
    return SkillDocument.checked(
        namespace=draw(st.sampled_from(["mayros", "skills", "test-ns", "foo/observations", "foo.v2"])),
        name=name,
        description=draw(descriptions),
        license=draw(st.none() | filled),
        compatibility=draw(st.none() | filled),
        allowed_tools=draw(st.lists(filled, max_size=3, unique=True).map(tuple)),
        metadata=draw(
            st.dictionaries(texts | st.sampled_from(["cortex", "semantic", "name"]), json_values, max_size=4)
        ),
        body=draw(st.one_of(texts, numbered)),
        steps=draw(steps),
        trigger_pattern=draw(st.none() | filled),
        depends_on=draw(others),
        conflicts_with=draw(others),
        reflections=draw(st.none() | declared),
        semantic=draw(st.none() | st.just({"version": 1, "permissions": {"graph": ["read"]}})),
        resources=draw(resources),
    )
