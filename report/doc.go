// Package report shows selections to people: as charts, and as an HTML page in one file.
//
// A [Page] is made from the JSON files that the program writes ([Read]): selections,
// curves and grids of path, results of eval. [Page.WriteHTML] writes one page that does not load
// anything from the network. Every value is escaped, and a content security policy permits only the
// page's own style and script. The page begins with the main results, compares several
// selections, and folds the details of each. [Page.Figures] returns its charts and masks as files.
//
//	doc, err := report.Read("sel.json", f)
//	…
//	page := report.Page{Documents: []report.Document{*doc}}
//	err = page.WriteHTML(w)
//
// [Chart] draws lines, spread bands and error bars, as SVG, as PNG with the Go fonts, and, in the page, as inline SVG
// whose colours follow the reader's light or dark mode.
//
// The elbow of a curve is the point furthest below the chord between its ends, after both
// axes are scaled to [0, 1] (package elbow): V. Satopää, J. Albrecht, D. Irwin, B. Raghavan:
// Finding a "Kneedle" in a Haystack, ICDCS Workshops 2011. We do not use the threshold of that
// paper, which is for curves that still grow.
package report
