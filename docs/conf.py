"""The settings of the documentation site, which Sphinx builds: `make docs`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # for repository.py and its neighbours

from hanamachi import __version__

project = "Hanamachi"
author = "The Hanamachi developers"
version = release = __version__
language = "en-GB"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
    "repository",
    "docstrings",
]
exclude_patterns = ["_static"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3  # the same anchors as on GitHub

autodoc_member_order = "bysource"
viewcode_follow_imported_members = False  # or it takes all of aec.py for code of the package
autodoc_typehints_format = "short"
autodoc_inherit_docstrings = False  # other libraries document their own methods
default_role = "code"  # docstrings write names as `this`
nitpick_ignore_regex = [  # types of other libraries, and types of ours without an entry
    (
        r"py:.*",
        r"(annotated_types|collections|gymnasium|np|numpy|os|pathlib|pyspiel|spaces|types)\..*",
    ),
    (r"py:.*", r"\w+"),  # aliases, and names imported from libraries
    (r"py:.*", r"hanamachi\..*\.(F|Session|Head|Forms|SpielGame|Axes)"),
    (r"py:.*", r"hanamachi\.training\.(config|exact|learner|evaluation\.statistics)\..*"),
]

html_theme = "furo"
html_title = "Hanamachi"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_copyright = False
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#9c3d54",
        "color-brand-content": "#9c3d54",
        "color-background-secondary": "#f7f3ea",
        "color-sidebar-background": "#f7f3ea",
    },
    "dark_css_variables": {
        "color-brand-primary": "#e59bb0",
        "color-brand-content": "#e59bb0",
    },
}
