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
    """What a page links to, and what can be linked to in it."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors = [], {""}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src") and value:
                self.links.append(value)
            elif name == "id":
                self.anchors.add(value)


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


def test_every_page_is_in_the_sidebar(site):
    """Those that are made for files and folders are reached by links alone."""
    listed = {(site / urlsplit(link).path).resolve() for link in Page(site / "index.html").links}
    made = {DOCS / "index.md", *(DOCS / "source").rglob("*")}
    pages = {page for kind in ("*.md", "*.rst") for page in DOCS.rglob(kind)} - made
    places = {page: site / page.relative_to(DOCS).with_suffix(".html") for page in pages}
    assert [page for page, place in places.items() if place.resolve() not in listed] == []
