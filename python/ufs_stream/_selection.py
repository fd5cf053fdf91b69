"""The result of a selection, and its picture in a notebook."""

from __future__ import annotations

import re
from collections import Counter
from html import escape
from typing import Any

SHOWN = 20  # chosen columns in the table of a notebook
LEFT, TOP, WIDTH, HEIGHT = 44, 10, 300, 150  # of the curve, in pixels


class Selection(dict[str, Any]):
    """The dict of ``select --format json``. A notebook shows the chosen columns and the curve of what they explain."""

    def _repr_html_(self) -> str:
        chosen = self["selected"]
        explained = [1 - f["error"] for f in chosen if f.get("error") is not None]
        shares = ["" if f.get("error") is None else format(1 - f["error"], ".1%") for f in chosen]
        rows = "".join(row_of(f["rank"], escape(f["name"]), share) for f, share in zip(chosen[:SHOWN], shares))
        if len(chosen) > SHOWN:
            rows += row_of("", f"and {len(chosen) - SHOWN:,} more", "")
        # Rules reach only into this picture: a notebook has a page of its own around it.
        return (
            f"<div><p>{escape(self.summary())}</p>"
            "<div style='display:flex;flex-wrap:wrap;gap:8px 32px;align-items:flex-start'>"
            "<table style='margin:0'><caption style='text-align:left'>Chosen columns</caption>"
            f"<thead>{row_of('rank', 'column', 'explained so far', 'th')}</thead><tbody>{rows}</tbody></table>"
            f"{curve_of(explained, (self.get('size') or {}).get('recommended'))}</div>"
            f"{''.join(f'<p>Warning: {escape(text)}</p>' for text in self['warnings'])}</div>"
        )

    def summary(self) -> str:
        """Say what was chosen of what, by which method, how much it explains, and what was left out."""
        text = f"{self['method']} chose {len(self['selected']):,} of {self['features']:,} features from {self['rows']:,} rows"
        share = (self.get("worth") or {}).get("explained")
        if share is not None:
            text += f"; they explain {share:.1%} of the variance"
        reasons = Counter(re.split(" \\(|:", column["why"])[0] for column in self["left_out"])
        if reasons:
            text += ". Left out: " + ", ".join(f"{count:,} {why}" for why, count in reasons.most_common(5))
            text += " and more" * (len(reasons) > 5)
        return text + "."


def row_of(rank: object, name: str, share: str, cell: str = "td") -> str:
    """Return a row of the table, of cells of one kind."""
    right, left = f"<{cell} style='text-align:right'>", f"<{cell} style='text-align:left'>"
    return f"<tr>{right}{rank}</{cell}>{left}{name}</{cell}>{right}{share}</{cell}></tr>"


def curve_of(explained: list[float], recommended: int | None) -> str:
    """Return the share explained by the first 1, 2, … columns as a picture of lines (SVG), with the recommended number."""
    count = len(explained)
    if count < 2:
        return ""
    places = [(LEFT + at * WIDTH / (count - 1), TOP + HEIGHT * (1 - max(share, 0))) for at, share in enumerate(explained)]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    label, axis, dot = f"{explained[0]:.1%} by the first column, {explained[-1]:.1%} by all {count:,}", f"1 to {count:,} columns", ""
    if recommended is not None and 1 <= recommended <= count:
        x, y = places[recommended - 1]
        dot = f"<circle cx='{x:.1f}' cy='{y:.1f}' r='5'/>"
        axis += f"; {recommended:,} are recommended"
    low = TOP + HEIGHT
    return (
        f"<svg role='img' aria-label='Share explained: {label} ({axis})' width='{LEFT + WIDTH + 10}' height='{low + 26}' font-size='12' fill='currentColor'>"
        f"<rect x='{LEFT}' y='{TOP}' width='{WIDTH}' height='{HEIGHT}' fill='none' stroke='currentColor' stroke-opacity='0.3'/>"
        f"<text x='{LEFT - 6}' y='{TOP + 5}' text-anchor='end'>100%</text><text x='{LEFT - 6}' y='{low}' text-anchor='end'>0%</text>"
        f"<text x='{LEFT}' y='{low + 18}'>{axis}</text>"
        f"<polyline points='{line}' fill='none' stroke='currentColor' stroke-width='2'/>{dot}</svg>"
    )
