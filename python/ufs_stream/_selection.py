"""The result of a selection, and its picture in a notebook."""

from __future__ import annotations

from html import escape
from typing import Any

SHOWN = 20  # chosen columns in the table of a notebook
WIDTH, HEIGHT = 320, 120  # of the curve, in pixels


class Selection(dict[str, Any]):
    """The dict of ``select --format json``. A notebook shows the chosen columns and the curve of what they explain."""

    def _repr_html_(self) -> str:
        chosen = self["selected"]
        explained = [1 - f["error"] for f in chosen if f.get("error") is not None]
        rows = "".join(
            f"<tr><td>{f['rank']}</td><td>{escape(f['name'])}</td><td>{'' if f.get('error') is None else format(1 - f['error'], '.1%')}</td></tr>"
            for f in chosen[:SHOWN]
        )
        if len(chosen) > SHOWN:
            rows += f"<tr><td></td><td>and {len(chosen) - SHOWN:,} more</td><td></td></tr>"
        # Rules reach only into this picture: a notebook has a page of its own around it.
        return (
            "<div>"
            f"<p>{escape(self.summary())}</p>"
            f"{curve_of(explained)}"
            "<table><caption>Chosen columns</caption><thead><tr><th scope='col'>rank</th><th scope='col'>column</th>"
            f"<th scope='col'>explained so far</th></tr></thead><tbody>{rows}</tbody></table>"
            f"{''.join(f'<p>Warning: {escape(text)}</p>' for text in self['warnings'])}"
            "</div>"
        )

    def summary(self) -> str:
        """Say in a sentence what was chosen of what, by which method, and how much it explains."""
        count = len(self["selected"])
        text = f"{self['method']} chose {count:,} of {self['features']:,} features from {self['rows']:,} rows"
        share = (self.get("worth") or {}).get("explained")
        if share is not None:
            text += f"; they explain {share:.1%} of the variance"
        return text + "."


def curve_of(explained: list[float]) -> str:
    """Return the share explained by the first 1, 2, … columns as a picture of lines (SVG)."""
    if len(explained) < 2:
        return ""
    step = (WIDTH - 2) / (len(explained) - 1)
    points = " ".join(f"{1 + at * step:.1f},{HEIGHT - 1 - max(share, 0) * (HEIGHT - 2):.1f}" for at, share in enumerate(explained))
    label = f"Share explained: {explained[0]:.1%} by the first column, {explained[-1]:.1%} by all {len(explained)}"
    return (
        f"<svg role='img' aria-label='{label}' width='{WIDTH}' height='{HEIGHT}' viewBox='0 0 {WIDTH} {HEIGHT}'>"
        f"<rect x='0.5' y='0.5' width='{WIDTH - 1}' height='{HEIGHT - 1}' fill='none' stroke='currentColor' stroke-opacity='0.2'/>"
        f"<polyline points='{points}' fill='none' stroke='currentColor' stroke-width='2'/></svg>"
    )
