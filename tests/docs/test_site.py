"""The site is built without a warning, and every link inside it leads to something."""

import subprocess
import sys
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import pytest
from root import ROOT
from samples import WHOLE

DOCS = ROOT / "docs"
BUILD = ["-m", "sphinx", "--quiet", "--nitpicky", "--fail-on-warning", "--keep-going"]
BRIEF = [] if WHOLE else ["-D", "brief=1"]


class Page(HTMLParser):
    """What a page links to, what can be linked to in it, and its title."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors, self.title = [], {""}, ""
        self.in_title = False
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src") and value:
                self.links.append(value)
            elif name == "id":
                self.anchors.add(value)
        if tag == "h1":
            self.in_title = True
        elif self.in_title and tag == "a":  # the link to the heading itself
            self.in_title = False

    def handle_endtag(self, tag):
        if tag == "h1":
            self.in_title = False

    def handle_data(self, data):
        if self.in_title:
            self.title += data.replace("\u2019", "'")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, *BUILD, *BRIEF, DOCS, folder]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_every_link_inside_leads_somewhere(site):
    pages = {path: Page(path) for path in site.rglob("*.html")}
    lost = []
    for path, page in pages.items():
        for link in map(urlsplit, page.links):
            if link.scheme or link.netloc:
                continue
            target = (path.parent / unquote(link.path)).resolve() if link.path else path
            there = pages[target].anchors if target in pages else {link.fragment}
            if not target.exists() or unquote(link.fragment) not in there:
                lost.append((path.relative_to(site).as_posix(), link.geturl()))
    assert lost == []


def test_every_page_is_built_from_its_own_source(site):
    """The generator writes files of its own, such as search.html, over pages of the same name."""
    pages = [page for kind in ("*.md", "*.rst") for page in DOCS.rglob(kind)]
    titles = {
        page: Page(site / page.relative_to(DOCS).with_suffix(".html")).title for page in pages
    }
    assert [page for page, title in titles.items() if title != title_of(page)] == []


def title_of(page):
    """The first heading of a page; one in reStructuredText is its first line."""
    lines = page.read_text(encoding="utf-8").splitlines()
    heading = next(line for line in lines if line.startswith("# ") or page.suffix == ".rst")
    return heading.removeprefix("# ").replace("`", "")


def test_every_page_is_in_the_sidebar(site):
    """Those that are made for files and folders are reached by links alone."""
    listed = {(site / urlsplit(link).path).resolve() for link in Page(site / "index.html").links}
    made = {DOCS / "index.md", *(DOCS / "source").rglob("*")}
    pages = {page for kind in ("*.md", "*.rst") for page in DOCS.rglob(kind)} - made
    places = {page: site / page.relative_to(DOCS).with_suffix(".html") for page in pages}
    assert [page for page, place in places.items() if place.resolve() not in listed] == []
