package report

func renderRankTable(v *rankTableView) markup {
	heads := renderHeads("Feature", "#In") + renderEach(v.Names, renderNameHead)
	body := renderBody(v.Rows, func(r rankTableRow) markup {
		return formatHTML(`<tr><th scope="row">%s</th><td class="n">%v</td>%s</tr>`+"\n", renderName(r.Name), r.Count, renderEach(r.Cells, func(c rankTableCell) markup {
			return formatHTML(`<td class="n%s">%s</td>`, formatNonEmpty(" %s", c.Class), c.Rank)
		}))
	})
	return renderFigure("Which selection has which feature, at which rank (darker is earlier)",
		renderTable("scroll tall", "Features by selection", "cross sortable", heads, body)+renderMore(v.More, "features in the files"))
}

func renderDrift(v driftView) markup {
	heads := renderHeads("Feature", "#Mean, in std", "#Std ratio", "#Missing, points", "Chosen by")
	body := renderBody(v.Rows, func(r driftRow) markup {
		return formatHTML(`<tr%s><th scope="row">%s</th>%s<td><bdi>%s</bdi></td></tr>`+"\n",
			formatIf(r.Moved, ` class="best"`), renderName(r.Name), renderNumbers(r.Shift, r.Ratio, r.Nulls), orDash(r.Chosen))
	})
	return renderFigure(formatHTML("Drift of the data from %s to %s", renderBrief(v.From), renderBrief(v.To)), renderTable("scroll tall", "Drift", "sortable", heads, body)+renderNote(v.Note))
}

// renderUnfoldable writes a table whose rows are filtered by the named field. A button, which offers all, shows the rest.
func renderUnfoldable[T any](field, label, class string, heads markup, rows, rest []T, all string, render func(T) markup) markup {
	bodies := formatHTML("<tbody>\n%s</tbody>", renderEach(rows, render)) + formatIf(rest != nil, "\n"+`<tbody class="rest">%s</tbody>`, renderEach(rest, render))
	return formatHTML("\n"+`<p class="tools" hidden><label>Filter by %s <input type="search" autocomplete="off" spellcheck="false"></label> <span class="soft" role="status"></span></p>`, field) +
		renderTable("scroll tall", label, class, heads, bodies) +
		formatIf(rest != nil, "\n"+`<p class="tools" hidden><button type="button" class="all" aria-expanded="false">Show all %s</button></p>`, all)
}

func renderRanking(v *rankingView) markup {
	bar, note := "Relative score", ""
	if v.Adds {
		bar, note = "Adds", "Adds: what the feature adds to the share explained at its turn. Score: the criterion of the method at that turn."
	}
	heads := renderHeads("#Rank", "Feature") + formatHTML(`<th scope="col" class="barcell">%s</th><th scope="col" class="n">Score%s</th>`, bar, formatIf(v.Lower, " (lower is better)")) +
		formatIf(v.Explained, "%s", renderHeads("#Explained so far")) + formatIf(v.Stands, "%s", renderHeads("#Stands for")) + formatIf(v.Missing, "%s", renderHeads("#Missing")) +
		formatIf(v.Column, `<th scope="col" class="n" title="position in the input, from 0, with lists expanded">Column</th>`)
	row := func(r rankRow) markup {
		return formatHTML(`<tr>%s<th scope="row">%s</th><td class="barcell" data-v="%s">`, renderSorted(r.Rank, r.Rank), renderName(r.Name), r.SortBar) +
			formatNonEmpty(`<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect width="%s" height="8"/></svg>`, r.Bar) +
			formatHTML("<span>%s</span></td>%s", r.BarValue, renderSorted(r.SortScore, r.Score)) +
			formatIf(v.Explained, "%s", renderSorted(r.SortExplained, r.Explained)) + formatIf(v.Stands, "%s", renderSorted(r.SortStandsFor, r.Stands)) +
			formatIf(v.Missing, "%s", renderSorted(r.SortMissing, r.Missing)) + formatIf(v.Column, "%s", renderSorted(r.Column, r.Column)) + "</tr>\n"
	}
	return `<div class="ranking filtered">` + renderUnfoldable("name", "Ranking of the selected features", "sortable", heads, v.Rows, v.Rest, v.Total, row) +
		renderMore(v.More, "in the file") + renderNote(note) + "\n</div>"
}

func renderColumns(v *columnsView) markup {
	all := v.Total
	if v.More != "" {
		all = "that are here"
	}
	row := func(r columnRow) markup {
		name := formatHTML("<bdi>%s</bdi>", r.Name)
		if briefName(r.Name) != r.Name {
			name = renderName(r.Name)
		}
		return formatHTML(`<tr><th scope="row">%s<td class="find" data-v="%s">%s%s`, name, r.SortRole, r.Role, formatNonEmpty("<bdi>%s</bdi>", briefName(r.Near))) +
			formatHTML("<td>%s<td>%s<td>%s<td>%s<td>%s</tr>", r.R, r.Explained, r.Mean, r.Std, r.Missing)
	}
	heads := renderHeads("Column", "Role", "r", "Explained", "Mean", "Std", "Missing")
	return `<div class="filtered">` + renderUnfoldable("name or role", "All columns", "columns sortable", heads, v.Rows, v.Rest, all, row) +
		renderMore(v.More, "columns in the file") + renderNote(v.Note) + "\n</div>"
}

func renderMap(v *mapView) markup {
	legend := renderLegend(renderLegendItem("f-s1", 6, v.Chosen) + renderLegendItem("f-s7", 6, "not chosen"))
	return formatHTML("\n"+`<figure class="places" data-names="%s">%s
<p class="note pointed" role="status"></p>%s%s
</figure>`, v.Names, v.SVG, legend, renderNote(v.Note))
}

func renderHeat(v *heatView) markup {
	heads := formatHTML(`<th scope="col">%s</th>`, formatIf(v.RowHead != v.Head, `%s \ %s`, v.RowHead, v.Head)) + renderEach(v.Columns, renderNameHead)
	body := renderBody(v.Rows, func(r heatRow) markup {
		return formatHTML(`<tr><th scope="row">%s</th>%s</tr>`+"\n", renderBrief(r.Name), renderEach(r.Cells, func(c heatCell) markup {
			return formatHTML(`<td class="%s%s"%s>%s`, c.Class, formatIf(c.Marked, " marked"), formatNonEmpty(` title="%s"`, c.Title), c.Value) +
				formatIf(c.Marked, `<span class="star" title="%s"> ★<span class="hide"> %[1]s</span></span>`, v.Marked) + "</td>"
		}))
	})
	return renderTable("scroll", v.Head+" by "+v.RowHead, "heat", heads, body) + renderEach(v.Notes, renderNote)
}

func renderAlike(v *correlationsView) markup {
	return formatHTML("\n"+`<figure>%s
<p class="note pointed" role="status">%s</p>%s
</figure>
<p>Most alike:</p>
<ol class="alike">%s</ol>`, v.SVG, v.Note, renderLegend(renderLegendItem("f-s0", 2, "r = 1")+renderLegendItem("f-chosen", 2, "r = −1")+"<li>paler nearer to 0; at the sides the ranks</li>"),
		renderEach(v.Pairs, func(p correlatedPairView) markup {
			return formatHTML("<li>%s and %s: %s</li>", renderBrief(p.A), renderBrief(p.B), p.R)
		}))
}
