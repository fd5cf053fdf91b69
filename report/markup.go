package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ufs-stream/ufs-stream/report/internal/drawing"
)

// markup is HTML in which all values are escaped. Package html/template would do the same, but it calls methods by name, so
// the linker would keep every method of the program.
type markup string

var escaper = strings.NewReplacer("\x00", "\ufffd", "&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;")

// formatHTML puts values into format as fmt.Sprintf does: markup as it is, all others escaped. The verbs of format stand in
// texts or in attribute values in double quotes, never in scripts or styles, and in addresses only for the IDs of the page.
func formatHTML(format string, values ...any) markup {
	for i, x := range values {
		if _, isMarkup := x.(markup); !isMarkup {
			values[i] = escaper.Replace(fmt.Sprint(x))
		}
	}
	return markup(fmt.Sprintf(format, values...))
}

func formatIf(isShown bool, format string, values ...any) markup {
	if !isShown {
		return ""
	}
	return formatHTML(format, values...)
}

func formatNonEmpty(format, text string) markup { return formatIf(text != "", format, text) }

func renderEach[T any](list []T, render func(T) markup) markup {
	var b strings.Builder
	for _, x := range list {
		b.WriteString(string(render(x)))
	}
	return markup(b.String())
}

func renderOptional[T any](v *T, render func(*T) markup) markup {
	if v == nil {
		return ""
	}
	return render(v)
}

func briefName(name string) string { return drawing.TruncateText(name, maxBriefRunes) }

func renderBrief(name string) markup {
	return formatHTML(`<bdi class="name">%s</bdi>`, briefName(name))
}

func renderNameHead(name string) markup {
	return formatHTML(`<th scope="col" class="n">%s</th>`, renderBrief(name))
}

func renderName(name string) markup {
	if briefName(name) == name {
		return renderBrief(name)
	}
	return formatHTML(`<details class="long"><summary>%s</summary><bdi class="name">%s</bdi></details>`, renderBrief(name), name)
}

func renderNote(note string) markup { return formatNonEmpty("\n"+`<p class="note">%s</p>`, note) }

func renderFigure(caption any, body markup) markup {
	return formatHTML("\n<figure>\n<figcaption>%v</figcaption>\n%s\n</figure>", caption, body)
}

func renderLegendItem(class string, radius int, text any) markup {
	return formatHTML(`<li><svg class="swatch" viewBox="0 0 12 12" aria-hidden="true"><rect class="%s" width="12" height="12" rx="%v"/></svg>%v</li>`, class, radius, text)
}

func renderLegend(items markup) markup {
	return formatIf(items != "", "\n"+`<ul class="legend">%s</ul>`, items)
}

// renderTable writes a table that scrolls within its region. heads has the cells of the first row.
func renderTable(region, label, class string, heads, bodies markup) markup {
	return formatHTML(`<div class="%s" role="region" aria-label="%s" tabindex="0"><table%s>
<thead><tr>%s</tr></thead>
%s</table></div>`, region, label, formatNonEmpty(` class="%s"`, class), heads, bodies)
}

func renderBody[T any](rows []T, render func(T) markup) markup {
	return formatHTML("<tbody>%s</tbody>", renderEach(rows, render))
}

// renderHeads writes heads of columns. The name of a column of numbers begins with #.
func renderHeads(names ...string) markup {
	return renderEach(names, func(name string) markup {
		name, isNumber := strings.CutPrefix(name, "#")
		return formatHTML(`<th scope="col"%s>%s</th>`, formatIf(isNumber, ` class="n"`), name)
	})
}

func renderNumbers(texts ...string) markup {
	return renderEach(texts, func(text string) markup { return formatHTML(`<td class="n">%s</td>`, text) })
}

func renderSorted(key, text any) markup {
	return formatHTML(`<td class="n" data-v="%v">%v</td>`, key, text)
}

func orDash(text string) string { return cmp.Or(text, "–") }
