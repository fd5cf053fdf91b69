package report

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/ufs-stream/ufs-stream/internal/browsertest"
	"github.com/ufs-stream/ufs-stream/internal/must"
)

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
	b.Do(chromedp.EmulateViewport(1200, 900))
	scheme(t, b, "", "light")
	e := must.Get(Read("eval.json", strings.NewReader(evalJSON)))(t)
	open(t, b, pageOf(t, hostileSelection(), gridDocument(), curveDocument(), *e))
	b.Clean()

	// textContent is the whole text, however it is drawn.
	shown := browsertest.Ask[[]string](b, `[...document.querySelectorAll('.ranking')[0].querySelectorAll('tbody th')].map(th => [...th.querySelectorAll('bdi')].at(-1)?.textContent ?? '')`)
	for i, f := range hostileSelection().Selection.Selected {
		if i >= len(shown) || shown[i] != f.Name {
			t.Errorf("name %d is not shown as it is: %.60q", i, f.Name)
		}
	}
	if n := browsertest.Ask[int](b, `document.scripts.length + document.querySelectorAll('img, iframe, object, [onerror], [onload], [style]').length`); n != 1 {
		t.Errorf("%d scripts and intruders", n)
	}
	if !browsertest.Ask[bool](b, `(i => i.getBoundingClientRect().width > 100)(document.querySelector('.mask image'))`) {
		t.Error("the mask is not shown")
	}

	light := browsertest.Ask[string](b, backgroundOf)
	scheme(t, b, "", "dark")
	dark := browsertest.Ask[string](b, backgroundOf)
	if light == dark || light != "rgb(255, 255, 255)" {
		t.Errorf("background %s in light, %s in dark", light, dark)
	}
	line := browsertest.Ask[string](b, `getComputedStyle(document.querySelector('.l-s0')).stroke`)

	// By keyboard: the skip link comes first, then the button, which turns dark to light.
	b.Do(chromedp.KeyEvent("\t"))
	if got := browsertest.Ask[string](b, `document.activeElement.className`); got != "skip" {
		t.Errorf("the first stop is %q", got)
	}
	b.Do(chromedp.KeyEvent("\t"))
	if got := browsertest.Ask[string](b, `document.activeElement.id`); got != "theme" {
		t.Fatalf("the second stop is %q", got)
	}
	if browsertest.Ask[string](b, `getComputedStyle(document.activeElement).outlineStyle`) == "none" {
		t.Error("the focus cannot be seen")
	}
	b.Do(chromedp.KeyEvent("\r"))
	if got := browsertest.Ask[string](b, backgroundOf); got != light {
		t.Errorf("after the button: background %s", got)
	}
	if got := browsertest.Ask[string](b, `getComputedStyle(document.querySelector('.l-s0')).stroke`); got == line {
		t.Errorf("charts do not follow: %s", got)
	}
	b.Do(chromedp.KeyEvent("\r"))
	if got := browsertest.Ask[string](b, backgroundOf); got != dark {
		t.Errorf("after the button again: background %s", got)
	}
	want := []string{"skip", "theme", "a", "button", "summary", "region", "sort", "search"}
	seen := map[string]bool{"skip": true, "theme": true}
	for range 200 {
		b.Do(chromedp.KeyEvent("\t"))
		seen[browsertest.Ask[string](b, `(e => e.id === 'theme' ? 'theme' : e.closest('thead') ? 'sort' : e.type === 'search' ? 'search' : e.getAttribute('role') === 'region' ? 'region' : e.localName)(document.activeElement)`)] = true
		if !slices.ContainsFunc(want, func(w string) bool { return !seen[w] }) {
			break
		}
	}
	for _, w := range want {
		if !seen[w] {
			t.Errorf("Tab does not reach %s: %v", w, seen)
		}
	}
	b.Clean()
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
		return browsertest.Ask[[]string](b, `[...document.querySelectorAll('.ranking tbody tr')].filter(r => r.checkVisibility()).map(r => r.querySelector('th').textContent)`)
	}
	if got := names(); len(got) != firstRows || got[1] != "f7" {
		t.Errorf("%d rows shown first: %v", len(got), got)
	}
	b.Do(chromedp.Focus(chromedp.CSS(".ranking input")), chromedp.KeyEvent("F11"))
	if got := names(); !slices.Equal(slices.Sorted(slices.Values(got)), []string{"f11", "f110", "f111", "f112", "f113", "f114", "f115", "f116", "f117", "f118", "f119"}) {
		t.Errorf("filtered: %v", got)
	}
	if got := browsertest.Ask[string](b, `document.querySelector('[role=status]').textContent`); got != "11 of 120 match" {
		t.Errorf("status %q", got)
	}
	b.Do(chromedp.Focus(chromedp.CSS(".ranking input")), chromedp.KeyEvent("\b\b\b"))
	b.Do(chromedp.Focus(chromedp.CSS(".ranking th:nth-child(2) button")), chromedp.KeyEvent("\r"))
	if got := names(); len(got) != firstRows || got[0] != "f0" || got[49] != "f49" {
		t.Errorf("sorted by name: %v", got)
	}
	b.Do(chromedp.KeyEvent("\r"))
	if got := names(); got[0] != "f119" || browsertest.Ask[string](b, `document.querySelector('[aria-sort]').ariaSort`) != "descending" {
		t.Errorf("sorted downwards: %v", got[:3])
	}
	b.Do(chromedp.Focus(chromedp.CSS(".ranking .all")), chromedp.KeyEvent(" "))
	if got := names(); len(got) != 120 {
		t.Errorf("%d rows after Show all", len(got))
	}
	b.Clean()
}

// TestBrowserPhone: no page is wider than a phone; wide tables scroll inside of it.
func TestBrowserPhone(t *testing.T) {
	b := browsertest.New(t)
	e := must.Get(Read("eval.json", strings.NewReader(evalJSON)))(t)
	b.Do(chromedp.EmulateViewport(360, 740, chromedp.EmulateMobile))
	open(t, b, pageOf(t, hostileSelection(), hostileSelection(), gridDocument(), curveDocument(), *e))
	b.Do(chromedp.Evaluate[chromedp.Void](`for (const d of document.querySelectorAll('details')) d.open = true`))
	if w := browsertest.Ask[[]int](b, `[document.documentElement.scrollWidth, innerWidth]`); w[0] > w[1] || w[1] != 360 {
		t.Errorf("%d wide on a screen of %d", w[0], w[1])
	}
	if n := browsertest.Ask[int](b, `[...document.querySelectorAll('.chart')].filter(c => c.checkVisibility()).length`); n != browsertest.Ask[int](b, `document.querySelectorAll('.narrow').length`) {
		t.Errorf("%d charts are shown", n)
	}
	b.Clean()
}

// TestBrowserPrint: on paper the page is light, folds are open, and there is a PDF.
func TestBrowserPrint(t *testing.T) {
	b := browsertest.New(t)
	scheme(t, b, "print", "dark")
	open(t, b, pageOf(t, hostileSelection(), gridDocument()))
	if got := browsertest.Ask[string](b, backgroundOf); got != "rgb(255, 255, 255)" {
		t.Errorf("background %s on paper", got)
	}
	if browsertest.Ask[bool](b, `document.getElementById('theme').checkVisibility()`) {
		t.Error("the button is printed")
	}
	browsertest.Ask[bool](b, `dispatchEvent(new Event('beforeprint'))`)
	if n := browsertest.Ask[int](b, `document.querySelectorAll('details:not([open])').length`); n > 0 {
		t.Errorf("%d folds are closed on paper", n)
	}
	browsertest.Ask[bool](b, `dispatchEvent(new Event('afterprint'))`)
	if n := browsertest.Ask[int](b, `document.querySelectorAll('details:not([open])').length`); n == 0 {
		t.Error("the folds stay open after printing")
	}
	pdf, err := chromedp.Run(b.Context, chromedp.PrintToPDF())
	if err != nil || len(pdf) < 10_000 || !strings.HasPrefix(string(pdf), "%PDF-") {
		t.Errorf("PDF of %d bytes: %v", len(pdf), err)
	}
	b.Clean()
}

// TestBrowserNotices: the faults that the tests above look for are found in a bad page.
func TestBrowserNotices(t *testing.T) {
	b := browsertest.New(t)
	html := strings.Replace(pageOf(t, curveDocument()), "<h1>", `<script>document.title = 'ran'</script><img src="http://127.0.0.1:1/x.png"><p style="color:red">x</p><h1>`, 1)
	open(t, b, html)
	browsertest.Ask[bool](b, `console.error('seen') === undefined`)
	if browsertest.Ask[string](b, `document.title`) == "ran" {
		t.Error("a foreign script ran")
	}
	all := strings.Join(b.Faults(), "\n")
	for _, want := range []string{"script-src", "img-src", "style-src", "console.error"} {
		if !strings.Contains(all, want) {
			t.Errorf("no word of %s in %q", want, all)
		}
	}
}
