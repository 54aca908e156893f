"""A game as an animation: scenes one after the other, as SVG without a script, or as GIF.

In SVG each scene lies above those before it and appears at its time. So a reader who has turned
motion off, or whose viewer knows none, sees the last scene.
"""

from collections.abc import Iterator, Sequence
from io import BytesIO
from typing import NamedTuple

from hanamachi.errors import missing_extra
from hanamachi.rendering.canvas import INK, LIGHT, Canvas
from hanamachi.rendering.pixels import pixels
from hanamachi.rendering.svg import document, shapes

CAPTION = 32  # the height of the strip with the caption
COLOURS = 128  # of a GIF
STILL = "@media (prefers-reduced-motion:reduce){g{animation:none!important}}"


class Scene(NamedTuple):
    """A picture and how long it is shown; all pictures of an animation have one size."""

    canvas: Canvas
    seconds: float


def captioned(canvas: Canvas, words: str) -> Canvas:
    """The same picture with a line of text on a strip below."""
    across, top, down = canvas.across, canvas.down, canvas.down + CAPTION
    longer = Canvas(across, down)
    longer.shapes = canvas.shapes.copy()
    longer.polygon((0, top, across, top, across, down, 0, down), INK)
    longer.write(14, top + CAPTION / 2, words, 15, LIGHT, anchor="lm")
    return longer


def animated_svg(scenes: Sequence[Scene], label: str) -> str:
    """All scenes in one element, again and again; `label` says what it shows."""
    total, begun = sum(scene.seconds for scene in scenes), 0.0
    rules, groups = [STILL], []
    for number, (canvas, seconds) in enumerate(scenes):
        at = 100 * begun / total
        rules.append(f"@keyframes s{number}{{0%{{opacity:0}}{at:.3f}%,to{{opacity:1}}}}")
        how = f' style="animation:s{number} {total:g}s step-end infinite"' if number else ""
        groups.append(f"<g{how}>{shapes(canvas)}</g>")
        begun += seconds
    content = f"<style>{''.join(rules)}</style>{''.join(groups)}"
    return document(scenes[0].canvas.across, scenes[0].canvas.down, label, content)


def animated_gif(scenes: Sequence[Scene], width: int) -> bytes:
    """All scenes, again and again, `width` pixels wide. Raises UserError if Pillow is missing."""
    try:
        from PIL import Image
    except ImportError:
        raise missing_extra("Pillow", "render") from None

    def images() -> Iterator[Image.Image]:
        for scene in scenes:
            yield Image.fromarray(pixels(scene.canvas, width)).quantize(COLOURS)

    first, *others = images()
    out = BytesIO()
    times = [round(1000 * scene.seconds) for scene in scenes]
    first.save(out, "GIF", save_all=True, append_images=others, duration=times, loop=0)
    return out.getvalue()
