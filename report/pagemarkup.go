package report

import (
	"cmp"
	"strings"
)

func renderOpening(v openingView) markup {
	return formatHTML(`<p class="opening">%s</p>`, v.First) + renderEach(v.Rest, func(p paragraph) markup {
		return formatHTML("\n"+`<p class="more"><strong>%s</strong> %s</p>`, p.Title, strings.Join(p.Sentences, " "))
	})
}

func renderCompare(v *compareView) markup {
	m := renderTable("scroll", "The selections at a glance", "glance sortable", renderHeads("Selection")+`<th scope="col" class="method">Method</th>`+
		renderHeads("#Features", "#Explained")+`<th scope="col" class="n" title="what the run recommends, else the elbow of the error">Worth keeping</th>`+
		renderHeads("Trust", "#Rows", "#Elapsed", "#Peak memory")+"<td></td>", renderBody(v.Rows, renderComparisonRow)) +
		"\n" + `<div class="pair">` + renderEach(v.Curves, renderChart) +
		renderFigure("Overlap of the selections: features in both over features in either (Jaccard index)", renderHeat(v.Overlap)) + "\n</div>"
	masks := renderEach(v.Masks, sameValue)
	return m + formatIf(masks != "", "%s", renderFigure(maskCaption, `<div class="masks">`+masks+"</div>"+renderOptional(v.Key, renderMaskKey))) +
		renderOptional(v.Table, renderRankTable) + renderEach(v.Drift, renderDrift) + "\n"
}

func renderComparisonRow(r comparisonRow) markup {
	const sub = `<span class="sub">%s</span>`
	return formatHTML(`<tr><th scope="row"><a href="#%s">%s</a></th><td class="method"><bdi>%s</bdi></td>%s`, r.ID, renderBrief(r.Name), r.Method, renderNumbers(r.K)) +
		formatHTML(`<td class="n"><span class="figure">%s%s</span>%s</td>`, r.Spark, r.Explained, formatNonEmpty(sub, r.Of)) +
		formatHTML(`<td class="n">%s%s</td><td%s>%s</td>`, orDash(r.Size), formatNonEmpty(sub, r.Rule), formatIf(r.Distrusted, ` class="doubt"`), orDash(r.Trust)) +
		renderNumbers(r.Rows) + renderSorted(r.SortElapsed, r.Elapsed) + renderSorted(r.SortMemory, r.Memory) +
		formatHTML(`<td><button type="button" class="copy" data-of="%s" hidden>Copy names</button></td></tr>`+"\n", r.ID)
}

func renderContents(v *sectionView) markup {
	link := func(isShown bool, anchor, title string) markup {
		return formatIf(isShown, `<li><a href="#%s-%s">%s</a></li>`, v.ID, anchor, title)
	}
	return link(v.Eval != "", "eval", "Results") + link(v.Heat != nil, "heat", "Stability") + link(v.Curves != nil, "curve", "Curve") +
		link(v.Mask != nil, "mask", "Mask") + link(v.Map != nil, "map", "Map") + link(v.Alike != nil, "alike", "Correlations") +
		link(v.Ranking != nil, "ranking", "Ranking") + link(v.Columns != nil, "columns", "Columns") +
		link(v.Progress != nil, "progress", "Convergence") + link(true, "run", "What was run")
}

func renderChart(v chartView) markup {
	legend := renderEach(v.Legend, func(item legendItem) markup {
		return renderLegendItem(item.Class, 2, formatHTML("<bdi>%s</bdi>", briefName(item.Name)))
	})
	return renderFigure(v.Title, v.Pictures+renderLegend(legend)+renderEach(v.Notes, renderNote))
}

// renderFacts writes a list. value and note are the formats of a fact's value and note.
func renderFacts(class, value, note string, list []fact) markup {
	return formatIf(list != nil, "\n"+`<dl class="%s">%s</dl>`, class, renderEach(list, func(f fact) markup {
		return formatHTML(`<div><dt>%s</dt><dd>%s%s</dd></div>`, f.Name, formatHTML(value, f.Value), formatNonEmpty(note, f.Note))
	}))
}

func renderDocument(v sectionView) markup {
	head := formatHTML(`<h2 id="%s-h"><bdi>%s</bdi> <span class="kind">%s</span></h2>`, v.ID, briefName(v.Name), v.Kind)
	if v.Folded {
		return formatHTML("\n"+`<details class="document" id="%s"><summary>%s<span class="soft">%s</span></summary>
%s</details>`, v.ID, head, cmp.Or(v.Opening.First, v.Lead), renderSection(&v))
	}
	return formatHTML("\n"+`<section class="document" id="%s" aria-labelledby="%[1]s-h">%s
%s</section>`, v.ID, head, renderSection(&v))
}

func renderSection(v *sectionView) (m markup) {
	if m = formatNonEmpty(`<p class="soft">%s</p>`, v.Lead); v.Opening.First != "" {
		m = renderOpening(v.Opening)
	}
	first := renderFirst(v)
	m += formatIf(v.Chosen != nil, "%s", first) + formatIf(v.Warnings.Shown != nil, `
<div class="warnings" id="%s-warnings" role="note" aria-label="Warnings">
<strong>Warnings</strong>
<ul>%s</ul>%s
</div>`, v.ID, renderEach(v.Warnings.Shown, func(text string) markup { return formatHTML("<li><bdi>%s</bdi></li>", text) }), renderMore(v.Warnings.More, "in the file"))
	m += renderFacts("facts", "%s", "<span>%s</span>", v.Facts) + renderPart(v, "eval", "Results", v.Eval) +
		renderPart(v, "heat", "Stability over the grid", renderOptional(v.Heat, renderHeat)+v.Settings) +
		formatIf(v.Chosen == nil, "%s", first)
	pictures := renderPart(v, "mask", "Mask of chosen pixels", renderOptional(v.Mask, renderMask)) +
		renderPart(v, "map", "Map of the columns", renderOptional(v.Map, renderMap)) +
		renderPart(v, "alike", "Correlations of the chosen", renderOptional(v.Alike, renderAlike))
	m += renderPair(pictures) + renderNote(v.NoMap) + renderPart(v, "ranking", "Ranking", renderOptional(v.Ranking, renderRanking)) +
		renderPart(v, "columns", "Columns", renderOptional(v.Columns, renderColumns)) +
		formatIf(v.Progress != nil, "\n"+`<details><summary><h3 id="%s-progress">Convergence</h3></summary>%s</details>`, v.ID, renderPair(renderEach(v.Progress, renderChart)))
	return m + renderRun(v)
}

func renderPart(v *sectionView, anchor, title string, body markup) markup {
	return formatIf(body != "", "\n"+`<section aria-labelledby="%s-%s"><h3 id="%[1]s-%[2]s">%s</h3>%s</section>`, v.ID, anchor, title, body)
}

func renderPair(parts markup) markup {
	return formatIf(parts != "", "\n"+`<div class="pair">%s</div>`, parts)
}

func renderMore(count, what string) markup {
	return formatIf(count != "", `<p class="soft">and %s more %s</p>`, count, what)
}

func renderRun(v *sectionView) markup {
	const value, note = "<bdi>%s</bdi>", ` <span class="soft">%s</span>`
	m := formatHTML("\n"+`<details><summary><h3 id="%s-run">What was run</h3></summary>
<p class="soft">File: <bdi class="path">%s</bdi></p>`, v.ID, v.File) + renderFacts("run", value, note, v.Run) +
		formatIf(v.Options != nil, "\n<h4>Options</h4>%s", renderFacts("run", value, note, v.Options))
	if shown := v.Inputs.Shown; shown != nil {
		table := renderTable("scroll tall", "Inputs", "", renderHeads("File", "#Rows", "#Size", "Fingerprint"), renderBody(shown, sameValue))
		m += formatHTML("\n<h4>Inputs (%v%s)</h4>\n%s%s", len(shown), formatIf(v.Inputs.More != "", " shown"), table, renderMore(v.Inputs.More, "files"))
	}
	return m + "\n</details>"
}

func renderFirst(v *sectionView) (m markup) {
	if c := v.Chosen; c != nil {
		m = renderPart(v, "chosen", "Chosen", formatHTML(`
<div class="chosen">
<div class="scroll tall" role="region" aria-label="Chosen features" tabindex="0"><ol>%s</ol>%s</div>
<button type="button" class="copy" data-of="%s" hidden>%s</button>
</div>`, renderEach(c.First, renderChosen),
			formatIf(c.Rest != nil, `<details><summary>%v more</summary><ol start="%v">%s</ol></details>`, len(c.Rest), c.RestFrom, renderEach(c.Rest, renderChosen)), v.ID, c.Button))
	}
	if n := len(v.Curves); n > 0 {
		m += renderPart(v, "curve", "Curve", renderChart(v.Curves[0])+
			formatIf(n > 1, "<details><summary>%v more</summary>%s</details>", n-1, renderEach(v.Curves[1:], renderChart)))
	}
	return renderPair(m)
}

func renderChosen(c chosenItem) markup {
	var near markup
	for i, f := range c.Near {
		near += formatIf(i > 0, ",") + formatHTML(` <bdi class="name">%s</bdi>%s`, truncateTag(f.Name), formatNonEmpty(" %s", f.R))
	}
	tag := truncateTag(c.Name)
	return formatHTML(`<li%s><bdi class="name">%s</bdi>%s</li>`+"\n", formatIf(tag != c.Name, ` data-name="%s"`, c.Name), tag,
		formatIf(c.Verb != "", ` <span class="soft">%s%s</span>`, c.Verb, near))
}

const maskCaption = "The chosen pixels over the mean image"

func renderMask(v *maskView) markup { return renderFigure(maskCaption, v.SVG+renderMaskKey(v)) }

func renderMaskKey(v *maskView) markup {
	scale := markup("mean, in each from its lowest (black) to its highest (white)")
	if v.Low != "" {
		scale = formatHTML("mean from %s (black) to %s (white)", v.Low, v.High)
	}
	return renderLegend(renderLegendItem("f-chosen", 2, v.Chosen)+`
<li><svg class="swatch wide-swatch" viewBox="0 0 36 12" aria-hidden="true"><rect fill="#000" width="12" height="12"/><rect fill="#808080" x="12" width="12" height="12"/><rect fill="#fff" x="24" width="12" height="12"/></svg>`+
		scale+"</li>"+formatIf(v.LeftOut != "", "%s", renderLegendItem("f-absent", 2, v.LeftOut))) + renderNote(v.Note)
}
