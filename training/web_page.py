"""Reports as HTML pages that need no other file, no script and no network."""

from collections.abc import Sequence
from html import escape

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ margin: 0 auto; padding: 1rem; max-width: {width}; background: #fff; color: #3a3330;
  font: 16px/1.5 system-ui, sans-serif; }}
h1 {{ font-size: 1.5rem; }} h2 {{ font-size: 1.15rem; margin-top: 2rem; }}
h3 {{ font-size: 1rem; font-weight: normal; }}
img {{ display: block; max-width: 100%; height: auto; margin: auto; border-radius: 4px; }}
.wide {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-size: 0.9rem; width: 100%; }}
th, td {{ padding: 0.3rem 0.6rem; border-bottom: 1px solid #e2d7c1; text-align: left; }}
.number {{ text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }}
.pairings td, .pairings th {{ padding: 0.2rem 0.35rem; white-space: nowrap; }}
.curve {{ min-width: 34rem; }}
pre {{ background: #f7f3ea; padding: 1rem; overflow-x: auto; font-size: 0.85rem; columns: 13rem; }}
@media (max-width: 34rem) {{ table {{ font-size: 0.8rem; }} th, td {{ padding: 0.3rem; }} }}
</style>
</head>
<body>
<h1>{title}</h1>
{body}
</body>
</html>
"""


def page(title: str, body: str, width: str = "50rem") -> str:
    """A page with this title, which is text, and this body, which is HTML."""
    return PAGE.format(title=escape(title), body=body, width=width)


def table(words: Sequence[str], numbers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table: its heads, first of the columns with words, then of those with numbers; its rows."""
    heads = "".join(f"<th>{escape(head)}" for head in words)
    lines = [heads + "".join(f'<th class="number">{escape(head)}' for head in numbers)]
    for row in rows:
        line = "".join(f"<td>{escape(cell)}" for cell in row[: len(words)])
        figures = (f'<td class="number">{escape(cell)}' for cell in row[len(words) :])
        lines.append(line + "".join(figures))
    return f'<div class="wide"><table>{"".join(f"<tr>{line}" for line in lines)}</table></div>'
