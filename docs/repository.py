"""Sections of other files in the pages of the site, and links to any file of the repository.

Every page also reads well in the repository itself. There, a link alone under the comment
`<!-- include -->` is a link. On the site, its target replaces it: a section (`RULES.md#setup`, or
one of a module's docstring), a program, or a page or notebook without its title. A link to included
text leads to the page that includes it; a link to any other file leads to a page that shows the
file. A list under `<!-- contents: Caption -->` is also a part of the sidebar.
"""

import ast
import os
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from notebook_pages import as_markdown
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
SHOWN = DOCS / "source"  # pages that are made for files, and for folders
NOTEBOOK = ".ipynb"
LISTED = {".py", ".md", NOTEBOOK}  # of a folder
LANGUAGES = {".py": "python", ".yaml": "yaml", ".json": "json", ".toml": "toml"}

INCLUDE = re.compile(r"^<!-- include -->\n\[[^\]]*\]\(([^)\s]+)\)$", re.MULTILINE)
CONTENTS = re.compile(r"^<!-- contents: (.+) -->\n((?:[*] .+\n|  .+\n)+)", re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"(^(?P<fence>`{3,}|:{3,}).*?^(?P=fence)$)", re.DOTALL | re.MULTILINE)
FRONT_MATTER = re.compile(r"\A---\n.*?^---\n", re.DOTALL | re.MULTILINE)
HEADING = re.compile(r"^(#+) (.+)$", re.MULTILINE)

Place = tuple[Path, str]  # a file, and the anchor of one of its sections or ""


# --- Targets of links


def place_of(target: str, folder: Path) -> Place:
    file, _, anchor = target.partition("#")
    path = (folder / file).resolve()
    if not path.exists():
        raise ExtensionError(f"{target} leads nowhere from {folder}")
    return path, anchor


def prose(path: Path) -> str:
    """The Markdown in a file, which may be a module's docstring or a notebook."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return ast.get_docstring(ast.parse(text)) or ""
    if path.suffix == NOTEBOOK:
        return as_markdown(text)
    return FRONT_MATTER.sub("", text)


def headings(text: str) -> Iterator[re.Match[str]]:
    """Those outside of code."""
    without_code = CODE.sub(lambda code: " " * len(code[0]), text)
    return HEADING.finditer(without_code)


def slug(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def section(path: Path, anchor: str) -> str:
    """The text under a heading, up to the next heading."""
    text = prose(path)
    found = list(headings(text))
    ends = [heading.start() for heading in found[1:]] + [len(text)]
    for heading, end in zip(found, ends, strict=True):
        if slug(heading[2]) == anchor:
            return text[heading.end() : end].strip()
    raise ExtensionError(f"{path} has no section {anchor}")


def title(path: Path) -> str:
    """The title of a page or a notebook; the path of any other file."""
    if path.suffix in {".md", NOTEBOOK}:
        return next(headings(prose(path)))[2]
    return f"`{path.relative_to(ROOT).as_posix()}`"


def content(path: Path, anchor: str, brief: bool = False) -> str:
    """The text that replaces a link on the site; of code, if brief, the first line.

    A brief list of a folder has no links, so that its files need no pages.
    """
    if anchor:
        return section(path, anchor)
    if path.suffix in {".md", NOTEBOOK}:
        text = prose(path)
        return text[next(headings(text)).end() :].strip()
    if path.is_dir():
        return listing(path, brief)
    text = path.read_text(encoding="utf-8").strip()
    if brief:
        return f"````text\n{text.partition(chr(10))[0]}\n````"
    return f"````{LANGUAGES.get(path.suffix, '')}\n{text}\n````"


def listing(folder: Path, brief: bool) -> str:
    entries = [p for p in sorted(folder.iterdir()) if p.is_dir() or p.suffix in LISTED]
    names = [p.name for p in entries if p.name != "__pycache__"]
    return "\n".join(f"* `{name}`" if brief else f"* [{name}]({name})" for name in names)


# --- Pages


def own_pages() -> list[Path]:
    return [page for page in sorted(DOCS.rglob("*.md")) if not page.is_relative_to(SHOWN)]


def homes() -> dict[Place, Path]:
    """The page that includes each place; a file belongs to the page that includes its top."""
    found: dict[Place, Path] = {}
    for page in own_pages():
        for target in INCLUDE.findall(page.read_text(encoding="utf-8")):
            path, anchor = place_of(target, page.parent)
            found[path, anchor] = page
            if path.suffix == ".md" and anchor == slug(title(path)):
                found[path, ""] = page
    return found


def is_of_the_site(path: Path) -> bool:
    """A page, or a picture."""
    return path.suffix in {".png", ".svg"} or (
        path.is_relative_to(DOCS) and path.suffix in {".md", ".rst"}
    )


def shown(path: Path) -> Path:
    """The page that shows a file that no page includes."""
    return SHOWN / f"{path.relative_to(ROOT).as_posix()}.md"


class Pages:
    """The pages of the site, and the files that they link to."""

    def __init__(self, brief: bool) -> None:
        self.homes, self.brief = homes(), brief
        self.wanted: set[Path] = set()  # files that need a page

    def complete(self, text: str, page: Path) -> str:
        """The text of a page with its includes, and with links for the site."""
        pieces = INCLUDE.split(text)
        own = [self.linked(piece, page.parent, page) for piece in pieces[::2]]
        places = [place_of(target, page.parent) for target in pieces[1::2]]
        taken = [self.linked(content(*at, self.brief), folder_of(at[0]), page) for at in places]
        whole = "".join(chain.from_iterable(zip(own, [*taken, ""], strict=True)))
        return CONTENTS.sub(with_toctree, whole)

    def linked(self, text: str, folder: Path, page: Path) -> str:
        """Text from a file in `folder`, with links that start from `page`."""
        pieces = CODE.split(text)
        for i in range(0, len(pieces), 3):  # the next two are code and its fence
            pieces[i] = LINK.sub(lambda link: f"]({self.link(link[1], folder, page)})", pieces[i])
        return "".join(piece for i, piece in enumerate(pieces) if i % 3 < 2)

    def link(self, target: str, folder: Path, page: Path) -> str:
        if "://" in target or target.startswith("#"):
            return target
        path, anchor = place_of(target, folder)
        if (path, anchor) in self.homes:
            path, anchor = self.homes[path, anchor], ""
        elif (path, "") in self.homes:
            path = self.homes[path, ""]
        elif not is_of_the_site(path):
            self.wanted.add(path)
            path = shown(path)
        leads = os.path.relpath(path, page.parent)
        return f"{leads}#{anchor}" if anchor else leads


def with_toctree(contents: re.Match[str]) -> str:
    """A list of pages, with the same pages in the sidebar."""
    caption, entries = contents.groups()
    pages = "\n".join(LINK.findall(entries))
    return f"{entries}\n:::{{toctree}}\n:hidden:\n:caption: {caption}\n\n{pages}\n:::\n"


def folder_of(path: Path) -> Path:
    return path if path.is_dir() else path.parent


def show_files(app: Sphinx) -> None:
    """Make a page for every file that a page links to and no page includes."""
    pages, done = Pages(app.config.brief), set()
    for page in own_pages():
        pages.complete(page.read_text(encoding="utf-8"), page)
    written = set()
    while pages.wanted - done:
        path = min(pages.wanted - done)
        done.add(path)
        page = shown(path)
        back = os.path.relpath(path, page.parent)
        text = f"---\norphan: true\n---\n\n# {title(path)}\n\n<!-- include -->\n[It]({back})\n"
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(text, encoding="utf-8")
        pages.complete(text, page)
        written.add(page)
    for page in set(SHOWN.rglob("*.md")) - written:
        page.unlink()


class Completion:
    """Completes the pages as Sphinx reads them; where each place is included is found once."""

    def __init__(self) -> None:
        self.pages: Pages | None = None

    def __call__(self, app: Sphinx, docname: str, source: list[str]) -> None:
        page = Path(app.env.doc2path(docname))
        if page.suffix == ".md":
            for target in INCLUDE.findall(source[0]):
                app.env.note_dependency(str(page.parent / target.partition("#")[0]))
            self.pages = self.pages or Pages(app.config.brief)
            source[0] = self.pages.complete(source[0], page)


class Sidebars:
    """The sidebar of pages that are not in it, or of all if brief, drawn once for each folder."""

    def __init__(self) -> None:
        self.drawn: dict[str, str] = {}

    def __call__(
        self, app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any
    ) -> None:
        folder, draw = os.path.dirname(page), context.get("toctree")
        listed = chain.from_iterable(app.env.toctree_includes.values())
        if draw and (app.config.brief or page not in listed):

            def toctree(**kwargs: Any) -> str:
                if folder not in self.drawn:
                    self.drawn[folder] = draw(**kwargs)
                return self.drawn[folder]

            context["toctree"] = toctree


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_config_value("brief", False, "env", bool)  # -D brief=1 shows first lines, not code
    app.connect("builder-inited", show_files)
    app.connect("source-read", Completion())
    app.connect("html-page-context", Sidebars(), priority=400)  # before the theme asks for it
    return {"parallel_read_safe": True}
