package report

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/ufs-stream/ufs-stream/internal/testing/browsertest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/internal/testing/testtool"
	"github.com/ufs-stream/ufs-stream/report/internal/drawing"
	"github.com/ufs-stream/ufs-stream/stream"
)

func TestMain(m *testing.M) { os.Exit(browsertest.RunTests(m)) }

// open shows a page.
func open(t *testing.T, b *browsertest.Tab, html string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	must.Do(t, os.WriteFile(path, []byte(html), 0o666))
	b.Open(path)
}

// scheme sets the system's colour scheme.
func scheme(t *testing.T, b *browsertest.Tab, media, name string) {
	t.Helper()
	must.Get(chromedp.Call(b.Context, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Media: media, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}},
	}))(t)
}

const backgroundOf = `getComputedStyle(document.body).backgroundColor`

// TestBrowser opens the page in a real browser: it is silent, loads nothing, shows hostile
// names as they are, follows light and dark, fits a phone, and works by keyboard and on paper.
func TestBrowser(t *testing.T) {
	b := browsertest.New(t)
	b.RunSteps(chromedp.EmulateViewport(1200, 900))
	scheme(t, b, "", "light")
	e := must.Get(Read("eval.json", strings.NewReader(evalJSON)))(t)
	open(t, b, pageOf(t, hostileSelection(), gridDocument(), curveDocument(), *e))
	b.CheckClean()

	// textContent is the whole text, however it is drawn.
	shown := browsertest.Evaluate[[]string](b, `[...document.querySelectorAll('.ranking')[0].querySelectorAll('tbody th')].map(th => [...th.querySelectorAll('bdi')].at(-1)?.textContent ?? '')`)
	for i, f := range hostileSelection().Selection.Selected {
		if i >= len(shown) || shown[i] != f.Name {
			t.Errorf("name %d is not shown as it is: %.60q", i, f.Name)
		}
	}
	if got := browsertest.Evaluate[[]string](b, `[...new Set([...document.querySelectorAll('.name:empty')].map(e => getComputedStyle(e, '::before').content))]`); len(got) != 1 || got[0] != `"(no name)"` {
		t.Errorf("empty names are shown as %q", got)
	}
	if n := browsertest.Evaluate[int](b, `document.scripts.length + document.querySelectorAll('img, iframe, object, [onerror], [onload], [style]').length`); n != 1 {
		t.Errorf("%d scripts and intruders", n)
	}
	if !browsertest.Evaluate[bool](b, `(i => i.getBoundingClientRect().width > 100)(document.querySelector('.mask image'))`) {
		t.Error("the mask is not shown")
	}

	light := browsertest.Evaluate[string](b, backgroundOf)
	scheme(t, b, "", "dark")
	dark := browsertest.Evaluate[string](b, backgroundOf)
	if light == dark || light != "rgb(255, 255, 255)" {
		t.Errorf("background %s in light, %s in dark", light, dark)
	}
	line := browsertest.Evaluate[string](b, `getComputedStyle(document.querySelector('.l-s0')).stroke`)

	// By keyboard: the skip link comes first, then the button, which turns dark to light.
	b.RunSteps(chromedp.KeyEvent("\t"))
	if got := browsertest.Evaluate[string](b, `document.activeElement.className`); got != "skip" {
		t.Errorf("the first stop is %q", got)
	}
	b.RunSteps(chromedp.KeyEvent("\t"))
	if got := browsertest.Evaluate[string](b, `document.activeElement.id`); got != "theme" {
		t.Fatalf("the second stop is %q", got)
	}
	if browsertest.Evaluate[string](b, `getComputedStyle(document.activeElement).outlineStyle`) == "none" {
		t.Error("the focus cannot be seen")
	}
	b.RunSteps(chromedp.KeyEvent("\r"))
	if got := browsertest.Evaluate[string](b, backgroundOf); got != light {
		t.Errorf("after the button: background %s", got)
	}
	if got := browsertest.Evaluate[string](b, `getComputedStyle(document.querySelector('.l-s0')).stroke`); got == line {
		t.Errorf("charts do not follow: %s", got)
	}
	b.RunSteps(chromedp.KeyEvent("\r"))
	if got := browsertest.Evaluate[string](b, backgroundOf); got != dark {
		t.Errorf("after the button again: background %s", got)
	}
	want := []string{"skip", "theme", "a", "button", "summary", "region", "sort", "search"}
	seen := map[string]bool{"skip": true, "theme": true}
	for range 200 {
		b.RunSteps(chromedp.KeyEvent("\t"))
		seen[browsertest.Evaluate[string](b, `(e => e.id === 'theme' ? 'theme' : e.closest('thead') ? 'sort' : e.type === 'search' ? 'search' : e.getAttribute('role') === 'region' ? 'region' : e.localName)(document.activeElement)`)] = true
		if !slices.ContainsFunc(want, func(w string) bool { return !seen[w] }) {
			break
		}
	}
	for _, w := range want {
		if !seen[w] {
			t.Errorf("Tab does not reach %s: %v", w, seen)
		}
	}
	b.CheckClean()
}

// TestBrowserTable sorts and filters the ranking, by keyboard alone.
func TestBrowserTable(t *testing.T) {
	b := browsertest.New(t)
	s := selectionOf()
	for i := range 120 {
		s.Selected = append(s.Selected, selectionOf(fmt.Sprintf("f%d", (i*7)%120)).Selected[0])
		s.Selected[i].Rank, s.Selected[i].Error = i+1, 0.5
		s.Selected[i].Score = 1
	}
	open(t, b, pageOf(t, Document{Name: "s.json", Selection: s}))
	names := func() []string {
		return browsertest.Evaluate[[]string](b, `[...document.querySelectorAll('.ranking tbody tr')].filter(r => r.checkVisibility()).map(r => r.querySelector('th').textContent)`)
	}
	if got := names(); len(got) != firstRows || got[1] != "f7" {
		t.Errorf("%d rows shown first: %v", len(got), got)
	}
	b.RunSteps(chromedp.Focus(chromedp.CSS(".ranking input")), chromedp.KeyEvent("F11"))
	if got := names(); !slices.Equal(slices.Sorted(slices.Values(got)), []string{"f11", "f110", "f111", "f112", "f113", "f114", "f115", "f116", "f117", "f118", "f119"}) {
		t.Errorf("filtered: %v", got)
	}
	if got := browsertest.Evaluate[string](b, `document.querySelector('[role=status]').textContent`); got != "11 of 120 match" {
		t.Errorf("status %q", got)
	}
	b.RunSteps(chromedp.Focus(chromedp.CSS(".ranking input")), chromedp.KeyEvent("\b\b\b"))
	b.RunSteps(chromedp.Focus(chromedp.CSS(".ranking th:nth-child(2) button")), chromedp.KeyEvent("\r"))
	if got := names(); len(got) != firstRows || got[0] != "f0" || got[49] != "f49" {
		t.Errorf("sorted by name: %v", got)
	}
	b.RunSteps(chromedp.KeyEvent("\r"))
	if got := names(); got[0] != "f119" || browsertest.Evaluate[string](b, `document.querySelector('[aria-sort]').ariaSort`) != "descending" {
		t.Errorf("sorted downwards: %v", got[:3])
	}
	b.RunSteps(chromedp.Focus(chromedp.CSS(".ranking .all")), chromedp.KeyEvent(" "))
	if got := names(); len(got) != 120 {
		t.Errorf("%d rows after Show all", len(got))
	}
	b.CheckClean()
}

// seriousFaults returns what axe finds wrong with the page: the rules of serious and critical impact, with the elements.
func seriousFaults(t *testing.T, b *browsertest.Tab) []string {
	t.Helper()
	axe := string(must.Get(os.ReadFile(filepath.Join(testtool.NodeModule(t, "axe-core", "4.10.3"), "axe.min.js")))(t))
	browsertest.Evaluate[bool](b, axe+"; true")
	return browsertest.Evaluate[[]string](b, `axe.run({ resultTypes: ['violations'] }).then((r) => r.violations.filter((v) => ['serious', 'critical'].includes(v.impact)).map((v) => v.id + ': ' + v.nodes.slice(0, 5).map((n) => n.html.slice(0, 200)).join(' | ')))`)
}

// TestBrowserAccessible: axe finds no serious or critical fault in pages of one selection and of each kind of document,
// on a phone in light colours and on a wide screen in dark ones, with all folds open. It finds one in a page that has it.
func TestBrowserAccessible(t *testing.T) {
	b := browsertest.New(t)
	for _, c := range []struct {
		documents []Document
		width     int64
		colours   string
	}{{[]Document{mappedSelection()}, 390, "light"}, {append(documents(t), mappedSelection()), 1280, "dark"}} {
		b.RunSteps(chromedp.EmulateViewport(c.width, 900))
		scheme(t, b, "", c.colours)
		open(t, b, pageOf(t, c.documents...))
		b.RunSteps(chromedp.Evaluate[chromedp.Void](`for (const d of document.querySelectorAll('details')) d.open = true`))
		if faults := seriousFaults(t, b); len(faults) > 0 {
			t.Errorf("%d documents, %d wide, %s: axe finds\n%s", len(c.documents), c.width, c.colours, strings.Join(faults, "\n"))
		}
	}
	b.CheckClean()
	open(t, b, strings.Replace(pageOf(t, mappedSelection()), `<button type="button" class="all"`, `<button type="button"></button><button type="button" class="all"`, 1))
	if faults := seriousFaults(t, b); len(faults) != 1 || !strings.HasPrefix(faults[0], "button-name: ") {
		t.Errorf("a button without a name: axe finds %q", faults)
	}
}

// checkOverlaps fails the test if a block of the page covers a part of the next one.
func checkOverlaps(t *testing.T, b *browsertest.Tab) {
	t.Helper()
	if overlaps := browsertest.Evaluate[[]string](b, `[...document.querySelectorAll('main :is(section, figure, div, p, ul, ol, dl, details, button, svg)')].filter((e) => {
		const next = e.nextElementSibling, box = e.getBoundingClientRect(), other = next?.getBoundingClientRect();
		return next && e.checkVisibility() && next.checkVisibility() && Math.min(box.right, other.right) - Math.max(box.left, other.left) > 1 && Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top) > 1;
	}).map((e) => e.localName + '.' + e.className + ' and ' + e.nextElementSibling.localName + '.' + e.nextElementSibling.className)`); len(overlaps) > 0 {
		t.Errorf("blocks overlap: %q", overlaps)
	}
}

// TestBrowserPhone: no page is wider than a phone; wide tables scroll inside of it.
func TestBrowserPhone(t *testing.T) {
	b := browsertest.New(t)
	e := must.Get(Read("eval.json", strings.NewReader(evalJSON)))(t)
	b.RunSteps(chromedp.EmulateViewport(360, 740, chromedp.EmulateMobile))
	open(t, b, pageOf(t, hostileSelection(), hostileSelection(), mappedSelection(), gridDocument(), curveDocument(), *e))
	b.RunSteps(chromedp.Evaluate[chromedp.Void](`for (const d of document.querySelectorAll('details')) d.open = true`))
	if w := browsertest.Evaluate[[]int](b, `[document.documentElement.scrollWidth, innerWidth]`); w[0] > w[1] || w[1] != 360 {
		t.Errorf("%d wide on a screen of %d", w[0], w[1])
	}
	checkOverlaps(t, b)
	if n := browsertest.Evaluate[int](b, `[...document.querySelectorAll('.chart')].filter(c => c.checkVisibility()).length`); n != browsertest.Evaluate[int](b, `document.querySelectorAll('.narrow').length`) {
		t.Errorf("%d charts are shown", n)
	}
	b.CheckClean()
}

// TestBrowserPrint: on paper the page is light, folds are open, and there is a PDF.
func TestBrowserPrint(t *testing.T) {
	b := browsertest.New(t)
	scheme(t, b, "print", "dark")
	open(t, b, pageOf(t, hostileSelection(), gridDocument()))
	if got := browsertest.Evaluate[string](b, backgroundOf); got != "rgb(255, 255, 255)" {
		t.Errorf("background %s on paper", got)
	}
	if browsertest.Evaluate[bool](b, `document.getElementById('theme').checkVisibility()`) {
		t.Error("the button is printed")
	}
	browsertest.Evaluate[bool](b, `dispatchEvent(new Event('beforeprint'))`)
	if n := browsertest.Evaluate[int](b, `document.querySelectorAll('details:not([open])').length`); n > 0 {
		t.Errorf("%d folds are closed on paper", n)
	}
	browsertest.Evaluate[bool](b, `dispatchEvent(new Event('afterprint'))`)
	if n := browsertest.Evaluate[int](b, `document.querySelectorAll('details:not([open])').length`); n == 0 {
		t.Error("the folds stay open after printing")
	}
	pdf, err := chromedp.Run(b.Context, chromedp.PrintToPDF())
	if err != nil || len(pdf) < 10_000 || !strings.HasPrefix(string(pdf), "%PDF-") {
		t.Errorf("PDF of %d bytes: %v", len(pdf), err)
	}
	b.CheckClean()
}

// TestBrowserCopies: the button copies all names, whole and in order, one a line; where the
// clipboard is refused, by way of the selection, as from a file in some browsers.
func TestBrowserCopies(t *testing.T) {
	b := browsertest.New(t)
	doc := hostileSelection()
	var want strings.Builder
	for _, f := range doc.Selection.Selected {
		want.WriteString(f.Name + "\n")
	}
	open(t, b, pageOf(t, doc, Document{Name: "other.json", Selection: selectionOf("x", "y")}))
	for _, way := range []string{
		`navigator.clipboard.writeText = async (text) => { window.copied = text; }`,
		`navigator.clipboard.writeText = async () => { throw new Error('refused'); };
		 document.addEventListener('copy', () => { window.copied = document.activeElement.value; })`,
	} {
		browsertest.Evaluate[bool](b, way+`; window.copied = ''; true`)
		b.RunSteps(chromedp.Click(chromedp.CSS(`.glance tr:nth-child(1) .copy`)))
		if got := browsertest.Evaluate[string](b, `new Promise(done => setTimeout(() => done(window.copied), 100))`); got != want.String() {
			t.Errorf("copied %q, want %q", drawing.TruncateText(got, 300), drawing.TruncateText(want.String(), 300))
		}
		if got := browsertest.Evaluate[string](b, `document.querySelector('.glance .copy').textContent`); got != "Copied" {
			t.Errorf("the button says %q", got)
		}
	}
	b.RunSteps(chromedp.Click(chromedp.CSS(`.glance tr:nth-child(2) .copy`)))
	if got := browsertest.Evaluate[string](b, `new Promise(done => setTimeout(() => done(window.copied), 100))`); got != "x\ny\n" {
		t.Errorf("of the other selection: %q", got)
	}
	b.CheckClean()
}

// TestBrowserSaves: the tables and figures of a page are saved as CSV and PNG, without loading anything. A CSV file has
// all rows, and the names as they are. The arrow keys and the pointer show the names of the map's dots.
func TestBrowserSaves(t *testing.T) {
	b := browsertest.New(t)
	doc := mappedSelection()
	hostile := []string{`a "quoted", name`, "two\nlines", `=HYPERLINK("x")`, "-1+2", "<b>bold</b>", strings.Repeat("long ", 100)}
	for i, name := range hostile {
		doc.Selection.Columns[60+i].Name = name
	}
	open(t, b, pageOf(t, doc))
	b.RunSteps(chromedp.Evaluate[chromedp.Void](`HTMLAnchorElement.prototype.click = () => {};
		window.blobs = []; URL.createObjectURL = (blob) => { window.blobs.push(blob); return 'blob:x'; };`))
	press := func(label string) {
		b.RunSteps(chromedp.Evaluate[chromedp.Void](`window.blobs = []; [...document.querySelectorAll('.save')].find((b) => b.ariaLabel === '` + label + `').click()`))
	}
	press("Save CSV: All columns")
	rows := must.Get(csv.NewReader(strings.NewReader(strings.TrimPrefix(browsertest.Evaluate[string](b, `window.blobs[0].text()`), "\ufeff"))).ReadAll())(t)
	if want := 1 + len(doc.Selection.Columns) + len(doc.Selection.LeftOut); len(rows) != want {
		t.Errorf("%d rows in the CSV file, want %d", len(rows), want)
	}
	if want := []string{"a", "chosen, rank 1", "", "0", "0", "1", ""}; !slices.Equal(rows[1], want) {
		t.Errorf("the first row of the CSV file is %q, want %q", rows[1], want)
	}
	for _, name := range hostile {
		want := name
		if strings.ContainsAny(name[:1], "=-") {
			want = "'" + name // no formula
		}
		if !slices.ContainsFunc(rows, func(row []string) bool { return row[0] == want }) {
			t.Errorf("%q is not in the CSV file", want)
		}
	}
	for _, label := range []string{"Save PNG: Map of the columns", "Save PNG: Correlations of the chosen", "Save PNG: m: share of sum of squares (scale standard) that k features explain"} {
		press(label)
		size := browsertest.Evaluate[[]int](b, `(async () => {
			while (window.blobs.length === 0) await new Promise((done) => setTimeout(done, 20));
			const image = await createImageBitmap(window.blobs[0]);
			const canvas = new OffscreenCanvas(image.width, image.height), to = canvas.getContext('2d', { willReadFrequently: true });
			to.drawImage(image, 0, 0);
			const colours = new Set(new Uint32Array(to.getImageData(0, 0, image.width, image.height).data.buffer));
			return [image.width, image.height, colours.size];
		})()`)
		if size[0] < 600 || size[1] < 500 || size[2] < 20 {
			t.Errorf("%s: a picture of %d × %d pixels in %d colours", label, size[0], size[1], size[2])
		}
	}
	// The map of correlations keeps its cells: their middles and edges have one colour. That of a and c is −0.5.
	press("Save PNG: Correlations of the chosen")
	if got := browsertest.Evaluate[[]string](b, `(async () => {
		while (window.blobs.length === 0) await new Promise((done) => setTimeout(done, 20));
		const image = await createImageBitmap(window.blobs[0]);
		const canvas = new OffscreenCanvas(image.width, image.height), to = canvas.getContext('2d', { willReadFrequently: true });
		to.drawImage(image, 0, 0);
		const box = document.querySelector('.map').getBoundingClientRect(), cells = document.querySelector('.map image').getBoundingClientRect();
		return [0.5, 0.1, 0.9].map((at) => [...to.getImageData(2 * (16 + cells.x - box.x + at * cells.width / 3), 2 * (36 + cells.y - box.y + (2 + at) * cells.height / 3), 1, 1).data].join());
	})()`); got[0] != got[1] || got[0] != got[2] || got[0] == "255,255,255,255" {
		t.Errorf("the middle, and points near the corners, of the cell of a and c have the colours %q, want one, not white", got)
	}
	pointed := func() string {
		return browsertest.Evaluate[string](b, `document.querySelector('.places .pointed').textContent`)
	}
	b.RunSteps(chromedp.Focus(chromedp.CSS(".places svg")), chromedp.KeyEvent(kb.ArrowRight))
	if got := pointed(); got != "a, chosen, rank 1" {
		t.Errorf("the first arrow key shows %q", got)
	}
	b.RunSteps(chromedp.KeyEvent(kb.ArrowLeft))
	if got := pointed(); got != "f79, near b, r 0.01" {
		t.Errorf("the arrow back shows %q", got)
	}
	browsertest.Evaluate[bool](b, `(() => {
		const box = document.querySelectorAll('.places circle:not([fill])')[3].getBoundingClientRect();
		document.querySelector('.places svg').dispatchEvent(new PointerEvent('pointermove', { clientX: box.x + 2, clientY: box.y + 2 }));
		return true;
	})()`)
	if got := pointed(); got != "f3, near a, r 0.96" {
		t.Errorf("the pointer over the fourth dot shows %q", got)
	}
	b.CheckClean()
}

// TestBrowserColumns: the table of columns is filtered by a chosen name to its cluster, and sorted by role, by keyboard.
func TestBrowserColumns(t *testing.T) {
	b := browsertest.New(t)
	open(t, b, pageOf(t, mappedSelection()))
	rows := func() [][]string {
		return browsertest.Evaluate[[][]string](b, `[...document.querySelectorAll('.columns tbody tr')].filter(r => r.checkVisibility()).map(r => [...r.cells].map(c => c.textContent.trim()))`)
	}
	b.RunSteps(chromedp.Focus(chromedp.CSS(".columns th:nth-child(2) button")), chromedp.KeyEvent("\r"))
	if got := rows(); len(got) != firstRows || got[0][0] != "a" || got[1][1] != "near a" || got[27][1] != "chosen, rank 2" {
		t.Errorf("sorted by role: got %q, want a and its cluster, then b", got)
	}
	b.RunSteps(chromedp.Focus(chromedp.CSS(".filtered:has(.columns) input")), chromedp.KeyEvent("near b"))
	got := rows()
	for _, row := range got {
		if row[1] != "near b" {
			t.Errorf("filtered by near b: %q", row)
		}
	}
	if len(got) != 26 {
		t.Errorf("%d rows near b, want 26", len(got))
	}
	b.CheckClean()
}

// TestBrowserUnfolds: a link to a folded selection opens it. The map of correlations shows the value under the
// pointer.
func TestBrowserUnfolds(t *testing.T) {
	b := browsertest.New(t)
	b.RunSteps(chromedp.EmulateViewport(1280, 800))
	s := selectionOf("a", "b", "c")
	s.Correlations = [][]stream.Number{{}, {0.25}, {-0.5, 0.75}}
	open(t, b, pageOf(t, Document{Name: "one.json", Selection: selectionOf("x")}, Document{Name: "two.json", Selection: s}))
	if browsertest.Evaluate[bool](b, `document.querySelector('#s2').open`) {
		t.Error("the second is open at first")
	}
	b.RunSteps(chromedp.Click(chromedp.CSS(`.glance tr:nth-child(2) a`)))
	if !browsertest.Evaluate[bool](b, `new Promise(done => setTimeout(() => done(document.querySelector('#s2').open), 100))`) {
		t.Error("the link does not open it")
	}
	for cell, want := range map[string]string{"0.5, 2.5": "a and c: −0.50", "2.5, 0.5": "a and c: −0.50", "2.5, 1.5": "b and c: 0.75", "1.5, 1.5": "b and b: 1"} {
		got := browsertest.Evaluate[string](b, `(() => {
			const image = document.querySelector('#s2 .map image'), box = image.getBoundingClientRect(), [x, y] = [`+cell+`];
			image.dispatchEvent(new PointerEvent('pointermove', { clientX: box.left + x * box.width / 3, clientY: box.top + y * box.height / 3 }));
			return document.querySelector('#s2 .pointed').textContent;
		})()`)
		if got != want {
			t.Errorf("at %s: %q, want %q", cell, got, want)
		}
	}
	b.CheckClean()
}

// TestBrowserWide: on a screen of 1280 no table hides columns, not those of an evaluation with
// every measure either.
func TestBrowserWide(t *testing.T) {
	b := browsertest.New(t)
	b.RunSteps(chromedp.EmulateViewport(1280, 800))
	spread := &stream.Spread{Mean: 0.123, Std: 0.012}
	p, best := stream.Number(1.5e-9), true
	e := &stream.Evaluation{Label: "class", Protocol: "greedy"}
	for _, name := range []string{"graphgreedy_standard", "variance"} {
		for k := range 3 {
			e.Results = append(e.Results, stream.Evaluated{
				Name: name, Method: "graphgreedy", K: 1000 * (k + 1), ACC: spread, NMISqrt: spread, NMIMax: spread, Purity: spread, ARI: spread,
				PBest: &p, Best: &best, Reconstruction: 0.5, Redundancy: 0.25, Stability: &stream.Stability{Jaccard: 0.5, Nogueira: 0.5},
			})
		}
	}
	docs := []Document{mappedSelection()}
	for i := range 5 {
		docs = append(docs, hostileSelection())
		docs[i].Name = fmt.Sprintf("/data/selection_%d.json", i)
	}
	open(t, b, pageOf(t, append(docs, Document{Name: "eval.json", Evaluation: e})...))
	checkOverlaps(t, b)
	hidden := browsertest.Evaluate[[]string](b, `[...document.querySelectorAll('.scroll')].filter(e => e.checkVisibility() && e.scrollWidth > e.clientWidth).map(e => e.ariaLabel + ' ' + e.scrollWidth + ' of ' + e.clientWidth)`)
	if len(hidden) > 0 {
		t.Errorf("tables hide columns: %q", hidden)
	}
	b.RunSteps(chromedp.EmulateViewport(720, 1000)) // A4 less its margins
	scheme(t, b, "print", "light")
	browsertest.Evaluate[bool](b, `dispatchEvent(new Event('beforeprint'))`)
	if w := browsertest.Evaluate[int](b, `document.documentElement.scrollWidth`); w > 720 {
		t.Errorf("%d wide on paper: %q", w, browsertest.Evaluate[[]string](b, `[...document.querySelectorAll('main *')].filter(e => e.getBoundingClientRect().right > 720).map(e => e.localName + '.' + e.className + ' ' + e.getBoundingClientRect().right)`))
	}
	b.CheckClean()
}

// TestBrowserNotices: the faults that the tests above look for are found in a bad page.
func TestBrowserNotices(t *testing.T) {
	b := browsertest.New(t)
	html := strings.Replace(pageOf(t, curveDocument()), "<h1>", `<script>document.title = 'ran'</script><img src="http://127.0.0.1:1/x.png"><p style="color:red">x</p><h1>`, 1)
	open(t, b, html)
	browsertest.Evaluate[bool](b, `console.error('seen') === undefined`)
	if browsertest.Evaluate[string](b, `document.title`) == "ran" {
		t.Error("a foreign script ran")
	}
	all := strings.Join(b.FaultsSoFar(), "\n")
	for _, want := range []string{"script-src", "img-src", "style-src", "console.error"} {
		if !strings.Contains(all, want) {
			t.Errorf("no word of %s in %q", want, all)
		}
	}
}
