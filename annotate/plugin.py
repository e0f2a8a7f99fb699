"""MkDocs hooks: wiring only. The drawing is done by the Python-Markdown extension."""

from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path

from mkdocs.config import config_options
from mkdocs.config.base import Config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.livereload import LiveReloadServer
from mkdocs.plugins import BasePlugin, CombinedEvent, event_priority, get_plugin_logger
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

from annotate import runnable
from annotate.addresses import Addresses, PageFile
from annotate.errors import AnnotateError, Exit
from annotate.generated import GeneratedPages
from annotate.project import Project, Report
from annotate.report import page as report_page
from annotate.verdict import Severity

ASSETS = Path(__file__).parent / "assets"
STYLES_URIS = ("assets/annotate.css", "assets/pictures.css")
REPLAY_URI = "assets/replay.js"
REPLAY_PLACE = '<div class="replay-player"'
RUN_PLACE = '<div class="claim-run"'

log = get_plugin_logger("annotate")


class AnnotateConfig(Config):  # type: ignore[no-untyped-call]
    """``source`` and ``exact`` mean what they mean to ``annotate verify``.

    ``pyodide`` is where *Run* takes Python from: ``cdn``, a ``folder``, named by
    ``pyodide_folder``, that is copied into the site, or ``none`` for a site without *Run*.
    """

    source = config_options.Optional(config_options.Type(str))
    exact = config_options.Type(bool, default=False)
    pyodide = config_options.Choice(("cdn", "folder", "none"), default="cdn")
    pyodide_folder = config_options.Optional(config_options.Dir(exists=True))


class AnnotatePlugin(BasePlugin[AnnotateConfig]):  # type: ignore[no-untyped-call]
    """Draws the claims of a site's pages, adds its verification page, and refuses false claims."""

    def __init__(self) -> None:
        super().__init__()
        self.configuration: MkDocsConfig | None = None
        self.project: Project
        self.report: Report
        self.generated: GeneratedPages
        self.runtime: runnable.Runtime | None = None
        self.offered: Mapping[str, bytes | Path] = {}
        self.shown: dict[str, tuple[str, str]] = {}
        self.urls: dict[str, str] = {}
        self.licences = ""

    def on_config(self, config: MkDocsConfig) -> MkDocsConfig:
        """Check all claims before anything is written, and turn the extension on."""
        # Once for a build: mkdocs-static-i18n builds again with the same object for each language.
        if config is not self.configuration:
            self.configuration = config
            self.project, self.report = self._check(Path(config.config_file_path or ".").parent)
            self.page_file = cache(partial(PageFile, self.project.config.root))
            _tell(self.report, refuse=config.strict)
            self.runtime, self.offered = self._offer(config)
        if "annotate.fences" not in config.markdown_extensions:
            config.markdown_extensions.append("annotate.fences")
        styles = [uri for uri in STYLES_URIS if uri not in config.extra_css]
        config.extra_css[:0] = styles
        return config

    def _check(self, root: Path) -> tuple[Project, Report]:
        try:
            source = self.config.source or None
            exact = self.config.exact
            project = Project.open(root, source=source, exact=exact, say=log.info)
            return project, project.check(exact=exact)
        except AnnotateError as error:
            raise PluginError(f"{error.message}\n{error.hint}".strip()) from error

    def _offer(
        self, config: MkDocsConfig
    ) -> tuple[runnable.Runtime | None, Mapping[str, bytes | Path]]:
        """The Python that *Run* uses, and the files that the site carries of the experiments."""
        runtime = None
        try:
            if self.config.pyodide == "cdn":
                runtime = runnable.from_cdn()
            elif self.config.pyodide == "folder":
                if self.config.pyodide_folder is None:
                    raise AnnotateError(
                        "pyodide is folder, and no folder is named", "Name it as pyodide_folder."
                    )
                runtime = runnable.from_folder(Path(self.config.pyodide_folder), runnable.PYODIDE)
            return runtime, runnable.files(self.project, runtime, config.site_name)
        except AnnotateError as error:
            raise PluginError(f"{error.message}\n{error.hint}".strip()) from error

    def _add_pages(self, files: Files, *, config: MkDocsConfig) -> Files:
        """Add styles, a script and, in each of the site's languages, the generated pages."""
        for uri in (*STYLES_URIS, REPLAY_URI):
            path = ASSETS / uri.removeprefix("assets/")
            files.append(File.generated(config, uri, abs_src_path=str(path)))
        self.generated = GeneratedPages(self.project, self.report)
        self.shown = {}
        for suffix, language in _languages(config).items():
            for name in self.generated.names:
                uri = f"{name.removesuffix('.md')}{suffix}.md"
                if files.get_file_from_path(uri) is None:
                    self.shown[uri] = (name, language)
        for uri in self.shown:
            # Not `File.generated`: mkdocs-static-i18n translates only files of the docs folder.
            files.append(File(uri, config.docs_dir, config.site_dir, config.use_directory_urls))
        return files

    @event_priority(-200)
    def _add_offered(self, files: Files, *, config: MkDocsConfig) -> Files:
        """Add what the site carries of the experiments."""
        # After mkdocs-static-i18n, which cannot handle files that are not on the disk.
        for uri, content in self.offered.items():
            _offer_file(files, config, uri, content)
        return files

    on_files = CombinedEvent(_add_pages, _add_offered)

    @event_priority(-200)
    def on_nav(self, nav: Navigation, *, config: MkDocsConfig, files: Files) -> Navigation:
        """Name the licences, and remember where the pages are: mkdocs-static-i18n moved them."""
        if not config.copyright or config.copyright == self.licences:
            language = str(config.theme.get("language", "en"))
            self.licences = config.copyright = report_page.licences(self.report.trees, language)
        self.urls = {}
        for file in files.documentation_pages():
            for version in (file, *getattr(file, "alternates", {}).values()):
                self.urls.setdefault(version.src_uri, version.url)
        return nav

    def on_page_read_source(self, *, page: Page, config: MkDocsConfig) -> str | None:
        """The text of a generated page."""
        shown = self.shown.get(page.file.src_uri)
        if shown is None:
            return None
        name, language = shown
        return self.generated.text(name, language, self._addresses(page, config))

    @event_priority(100)
    def on_page_markdown(
        self, markdown: str, *, page: Page, config: MkDocsConfig, **_: object
    ) -> None:
        """Tell the extensions which page they are about to draw."""
        name = _name(page.file.src_uri, config, self.project)
        config.mdx_configs["annotate.fences"] = {
            "project": self.project,
            "page": name,
            "language": _language(page, config),
            "links": self._addresses(page, config),
            "line_offset": 0 if self._is_generated(page) else _line_offset(page, markdown),
        }
        config.mdx_configs["annotate.formulas"] = {
            "warn": lambda message: log.warning(f"{name}: {message}")
        }

    def on_page_content(self, html: str, *, page: Page, **_: object) -> str:
        """Bring the script of *Run* to the pages that have something to run, and to no other."""
        if self.runtime is None or not self.offered or RUN_PLACE not in html:
            return html
        styles, script = (
            get_relative_url(f"{runnable.FOLDER}/run.{suffix}", page.url)
            for suffix in ("css", "js")
        )
        return (
            f'{html}\n<link rel="stylesheet" href="{styles}">\n'
            f'<script src="{script}" defer data-host="{self.runtime.host}"'
            f' data-megabytes="{self.runtime.size / 1e6:.0f}"></script>'
        )

    def on_post_page(self, output: str, *, page: Page, **_: object) -> str:
        """Bring the replay's script to the pages that have a replay, and to no other."""
        if REPLAY_PLACE not in output:
            return output
        before, body_end, after = output.rpartition("</body>")
        script = get_relative_url(REPLAY_URI, page.url)
        return f'{before}<script src="{script}"></script>\n{body_end}{after}'

    def on_serve(self, server: LiveReloadServer, **_: object) -> LiveReloadServer:
        """Build again when the records or the pin change."""
        for path in (self.project.config.records, self.project.config.file):
            if path.exists():
                server.watch(str(path))
        return server

    def _is_generated(self, page: Page) -> bool:
        return page.file.src_uri in self.shown

    def _addresses(self, page: Page, config: MkDocsConfig) -> Addresses:
        language = _language(page, config)
        suffixes = {name: suffix for suffix, name in _languages(config).items()}
        suffix = suffixes.get(language, "")
        return Addresses(
            page.url,
            {_name(uri, config, self.project): url for uri, url in self.urls.items()},
            self.urls,
            self.generated.atlases,
            suffix,
            [other for other in suffixes.values() if other not in ("", suffix)],
            self.page_file,
            runnable.downloads(self.project),
        )


def _tell(report: Report, *, refuse: bool) -> None:
    """Log every verdict that is not clean.

    Raises:
        PluginError: a claim fails, or nothing was judged, and the build may ``refuse``.
    """
    shout = log.error if refuse else log.warning
    for judgement in report.judgements:
        if judgement.severity in (Severity.WARNING, Severity.ERROR):
            say = shout if judgement.severity is Severity.ERROR else log.info
            say(
                f"{judgement.location}: {judgement.subject}: {judgement.verdict}: "
                f"{judgement.message}"
            )
    if report.exit_code is Exit.CLEAN:
        return
    why = report.nothing_judged or f"{report.summary.errors} claims fail"
    if refuse:
        raise PluginError(f"{why}; `annotate verify` shows them with their fixes")
    log.warning(why)


def _offer_file(files: Files, config: MkDocsConfig, uri: str, content: bytes | Path) -> None:
    """Add a file to the site, if need be in the place of one that is kept out of it."""
    existing = files.get_file_from_path(uri)
    if existing is not None:
        if existing.inclusion is not InclusionLevel.EXCLUDED:
            return
        files.remove(existing)
    included = InclusionLevel.INCLUDED
    if isinstance(content, bytes):
        file = File.generated(config, uri, content=content, inclusion=included)
    else:
        file = File.generated(config, uri, abs_src_path=str(content), inclusion=included)
    files.append(file)


def _languages(config: MkDocsConfig) -> dict[str, str]:
    """What file names of a language have before ``.md`` → that language; the default has ""."""
    i18n = config.plugins.get("i18n")
    if i18n is None:
        return {"": str(config.theme.get("language", "en"))}
    return {
        "" if entry.default else f".{entry.locale}": entry.locale
        for entry in i18n.config.languages
        if entry.build
    }


def _name(src_uri: str, config: MkDocsConfig, project: Project) -> str:
    """A page's path relative to the project, as its claims name it."""
    path = Path(config.docs_dir, src_uri)
    root = project.config.root
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else src_uri


def _language(page: Page, config: MkDocsConfig) -> str:
    """The language a page is written in, which with a fallback is not that of the site."""
    return str(getattr(page.file, "locale", None) or config.theme.get("language", "en"))


def _line_offset(page: Page, markdown: str) -> int:
    """How many lines of a page's file MkDocs has taken off: its front matter."""
    text = page.file.content_string
    return text.removesuffix(markdown).count("\n") if text.endswith(markdown) else 0
