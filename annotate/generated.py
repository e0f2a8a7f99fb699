"""The pages of a site that nobody writes: the verification page and the atlas."""

from collections.abc import Mapping
from functools import cached_property

from annotate.addresses import Addresses
from annotate.atlas import FOLDER, Atlas
from annotate.project import Project, Report
from annotate.report import page as report_page

VERIFICATION = "verification.md"


class GeneratedPages:
    """What to generate for a project, by file name below the docs folder."""

    def __init__(self, project: Project, report: Report) -> None:
        self._project = project
        self._report = report

    @cached_property
    def atlases(self) -> Mapping[str, Atlas]:
        """Upstream name → its atlas; several upstreams have a folder each."""
        indexes = self._project.indexes
        quoted = {judgement.found.path for judgement in self._report.judgements if judgement.found}
        return {
            name: Atlas(index, quoted, FOLDER if len(indexes) == 1 else f"{FOLDER}/{name}")
            for name, index in indexes.items()
        }

    @cached_property
    def names(self) -> Mapping[str, tuple[Atlas, str] | None]:
        """File name → the atlas and the module it shows ("" for the overview); None for others."""
        names: dict[str, tuple[Atlas, str] | None] = {VERIFICATION: None}
        for atlas in self.atlases.values():
            names[atlas.overview] = (atlas, "")
            names.update({atlas.page(path): (atlas, path) for path in atlas.paths})
        return names

    def text(self, name: str, language: str, addresses: Addresses) -> str:
        """A page's Markdown in a language."""
        shown = self.names[name]
        if shown is None:
            return report_page.render(self._report, language, addresses.location)
        atlas, path = shown
        if path:
            return atlas.module_text(path, language)
        upstream = atlas.index.tree.pin.name
        return atlas.overview_text(language, lambda module: addresses.symbol(upstream, module))
