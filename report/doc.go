// Package report shows selections to people: charts, and one HTML page in one file.
//
// A [Page] is made from the JSON files that the program writes ([Read]): selections,
// curves and grids of path, results of eval. [Page.WriteHTML] writes them as a page
// without any reference to the network, every value escaped, under a content security
// policy that lets only the page's own style and script run: first what a person asks for,
// several selections compared, each one's details folded. [Page.Figures] gives its charts
// and masks as files.
//
//	doc, err := report.Read("sel.json", f)
//	…
//	page := report.Page{Documents: []report.Document{*doc}}
//	err = page.WriteHTML(w)
//
// [Chart] draws lines, spread bands and error bars, as SVG, as PNG with the Go fonts,
// and, in the page, as inline SVG whose colours follow light and dark.
//
// The elbow of a curve is the point furthest below the chord between its ends, after both
// axes are scaled to [0, 1] (package elbow): V. Satopää, J. Albrecht, D. Irwin, B. Raghavan:
// Finding a "Kneedle" in a Haystack, ICDCS Workshops 2011, without its threshold, which
// serves curves that are still arriving.
package report
