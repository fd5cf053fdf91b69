package report

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/ufs-stream/ufs-stream/internal/must"
)

// browser is a tab of a headless Chromium that records unwanted events.
type browser struct {
	t   *testing.T
	ctx context.Context

	mu     sync.Mutex
	faults []string // console messages, exceptions, violations of the policy, dialogs
	loads  []string // requests
}

// newBrowser starts Chromium, or skips the test where there is none.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		t.Skip("no browser: install chromium (apt-get install chromium) to test the page in one")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium's sandbox refuses root
	}
	ctx, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, closeTab := chromedp.NewContext(ctx)
	t.Cleanup(func() {
		// Wait for the end, so that the profile's folder can go.
		if err := chromedp.Cancel(ctx); err != nil {
			t.Logf("closing the browser: %v", err)
		}
		closeTab()
	})
	b := &browser{t: t, ctx: ctx}
	must.Do(t, chromedp.Listen(ctx, b.note))
	// From here on a page that hangs ends the test; starting Chromium had no timeout.
	limited, cancel := context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(cancel)
	b.ctx = limited
	must.Get(chromedp.Call(b.ctx, network.Enable, network.EnableParams{}))(t)
	must.Get(chromedp.Call(b.ctx, log.Enable, struct{}{}))(t)
	must.Get(chromedp.Call(b.ctx, page.Enable, page.EnableParams{}))(t)
	return b
}

// note records events.
func (b *browser) note(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		b.faults = append(b.faults, fmt.Sprintf("console.%s with %d values", e.Type, len(e.Args)))
	case *runtime.EventExceptionThrown:
		b.faults = append(b.faults, "exception: "+e.ExceptionDetails.Text)
	case *log.EventEntryAdded:
		b.faults = append(b.faults, fmt.Sprintf("%s: %s", e.Entry.Source, e.Entry.Text))
	case *page.EventJavascriptDialogOpening:
		b.faults = append(b.faults, "dialog: "+e.Message)
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, "data:") {
			b.loads = append(b.loads, e.Request.URL)
		}
	}
}

// open shows a page and returns its address.
func (b *browser) open(html string) string {
	b.t.Helper()
	path := filepath.Join(b.t.TempDir(), "report.html")
	must.Do(b.t, os.WriteFile(path, []byte(html), 0o666))
	b.do(chromedp.Navigate("file://" + path))
	return "file://" + path
}

func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	must.Do(b.t, chromedp.Do(b.ctx, steps...))
}

// ask evaluates JavaScript in the page.
func ask[T any](b *browser, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// scheme sets the system's colour scheme.
func (b *browser) scheme(media, name string) {
	b.t.Helper()
	must.Get(chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Media: media, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}},
	}))(b.t)
}

// clean fails the test if anything but the load of the page was noted.
func (b *browser) clean(address string) {
	b.t.Helper()
	// All earlier events have been reported when this returns.
	must.Get(chromedp.Run(b.ctx, chromedp.Evaluate[bool]("new Promise(done => setTimeout(() => done(true), 100))", chromedp.EvalAwaitPromise)))(b.t)
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.faults) > 0 {
		b.t.Errorf("the browser reports %q", b.faults)
	}
	for _, url := range b.loads {
		if url != address {
			b.t.Errorf("the page loads %s", url)
		}
	}
}

const backgroundOf = `getComputedStyle(document.body).backgroundColor`

// TestBrowser opens the page in a real browser: it is silent, loads nothing, shows hostile
// names as they are, follows light and dark, fits a phone, and works by keyboard and on paper.
func TestBrowser(t *testing.T) {
	b := newBrowser(t)
	b.do(chromedp.EmulateViewport(1200, 900))
	b.scheme("", "light")
	e := must.Get(Read("eval.json", strings.NewReader(evalJSON)))(t)
	address := b.open(pageOf(t, hostileSelection(), gridDocument(), curveDocument(), *e))
	b.clean(address)

	// textContent is the whole text, however it is drawn.
	shown := ask[[]string](b, `[...document.querySelectorAll('.ranking')[0].querySelectorAll('tbody th')].map(th => [...th.querySelectorAll('bdi')].at(-1)?.textContent ?? '')`)
	for i, f := range hostileSelection().Selection.Selected {
		if i >= len(shown) || shown[i] != f.Name {
			t.Errorf("name %d is not shown as it is: %.60q", i, f.Name)
		}
	}
	if n := ask[int](b, `document.scripts.length + document.querySelectorAll('img, iframe, object, [onerror], [onload], [style]').length`); n != 1 {
		t.Errorf("%d scripts and intruders", n)
	}
	if !ask[bool](b, `(i => i.getBoundingClientRect().width > 100)(document.querySelector('.mask image'))`) {
		t.Error("the mask is not shown")
	}

	light := ask[string](b, backgroundOf)
	b.scheme("", "dark")
	dark := ask[string](b, backgroundOf)
	if light == dark || light != "rgb(255, 255, 255)" {
		t.Errorf("background %s in light, %s in dark", light, dark)
	}
	line := ask[string](b, `getComputedStyle(document.querySelector('.l-s0')).stroke`)

	// By keyboard: the skip link comes first, then the button, which turns dark to light.
	b.do(chromedp.KeyEvent("\t"))
	if got := ask[string](b, `document.activeElement.className`); got != "skip" {
		t.Errorf("the first stop is %q", got)
	}
	b.do(chromedp.KeyEvent("\t"))
	if got := ask[string](b, `document.activeElement.id`); got != "theme" {
		t.Fatalf("the second stop is %q", got)
	}
	if ask[string](b, `getComputedStyle(document.activeElement).outlineStyle`) == "none" {
		t.Error("the focus cannot be seen")
	}
	b.do(chromedp.KeyEvent("\r"))
	if got := ask[string](b, backgroundOf); got != light {
		t.Errorf("after the button: background %s", got)
	}
	if got := ask[string](b, `getComputedStyle(document.querySelector('.l-s0')).stroke`); got == line {
		t.Errorf("charts do not follow: %s", got)
	}
	b.do(chromedp.KeyEvent("\r"))
	if got := ask[string](b, backgroundOf); got != dark {
		t.Errorf("after the button again: background %s", got)
	}
	want := []string{"skip", "theme", "a", "summary", "region", "sort", "search"}
	seen := map[string]bool{"skip": true, "theme": true}
	for range 120 {
		b.do(chromedp.KeyEvent("\t"))
		seen[ask[string](b, `(e => e.id === 'theme' ? 'theme' : e.closest('thead') ? 'sort' : e.type === 'search' ? 'search' : e.getAttribute('role') === 'region' ? 'region' : e.localName)(document.activeElement)`)] = true
		if ask[string](b, `document.activeElement.type ?? ''`) == "search" {
			break
		}
	}
	for range 3 {
		b.do(chromedp.KeyEvent("\t"))
		seen[ask[string](b, `document.activeElement.closest('thead') ? 'sort' : ''`)] = true
	}
	for _, w := range want {
		if !seen[w] {
			t.Errorf("Tab does not reach %s: %v", w, seen)
		}
	}
	b.clean(address)
}

// TestBrowserTable sorts and filters the ranking, by keyboard alone.
func TestBrowserTable(t *testing.T) {
	b := newBrowser(t)
	s := selectionOf()
	for i := range 120 {
		s.Selected = append(s.Selected, selectionOf(fmt.Sprintf("f%d", (i*7)%120)).Selected[0])
		s.Selected[i].Rank, s.Selected[i].Error = i+1, 0.5
		s.Selected[i].Score = 1
	}
	address := b.open(pageOf(t, Document{Name: "s.json", Selection: s}))
	names := func() []string {
		return ask[[]string](b, `[...document.querySelectorAll('.ranking tbody tr')].filter(r => r.checkVisibility()).map(r => r.querySelector('th').textContent)`)
	}
	if got := names(); len(got) != firstRows || got[1] != "f7" {
		t.Errorf("%d rows shown first: %v", len(got), got)
	}
	b.do(chromedp.Focus(chromedp.CSS(".ranking input")), chromedp.KeyEvent("F11"))
	if got := names(); !slices.Equal(slices.Sorted(slices.Values(got)), []string{"f11", "f110", "f111", "f112", "f113", "f114", "f115", "f116", "f117", "f118", "f119"}) {
		t.Errorf("filtered: %v", got)
	}
	if got := ask[string](b, `document.querySelector('[role=status]').textContent`); got != "11 of 120 match" {
		t.Errorf("status %q", got)
	}
	b.do(chromedp.Focus(chromedp.CSS(".ranking input")), chromedp.KeyEvent("\b\b\b"))
	b.do(chromedp.Focus(chromedp.CSS(".ranking th:nth-child(2) button")), chromedp.KeyEvent("\r"))
	if got := names(); len(got) != firstRows || got[0] != "f0" || got[49] != "f49" {
		t.Errorf("sorted by name: %v", got)
	}
	b.do(chromedp.KeyEvent("\r"))
	if got := names(); got[0] != "f119" || ask[string](b, `document.querySelector('[aria-sort]').ariaSort`) != "descending" {
		t.Errorf("sorted downwards: %v", got[:3])
	}
	b.do(chromedp.Focus(chromedp.CSS(".ranking .all")), chromedp.KeyEvent(" "))
	if got := names(); len(got) != 120 {
		t.Errorf("%d rows after Show all", len(got))
	}
	b.clean(address)
}

// TestBrowserPhone: no page is wider than a phone; wide tables scroll inside of it.
func TestBrowserPhone(t *testing.T) {
	b := newBrowser(t)
	e := must.Get(Read("eval.json", strings.NewReader(evalJSON)))(t)
	b.do(chromedp.EmulateViewport(360, 740, chromedp.EmulateMobile))
	address := b.open(pageOf(t, hostileSelection(), hostileSelection(), gridDocument(), curveDocument(), *e))
	b.do(chromedp.Evaluate[chromedp.Void](`for (const d of document.querySelectorAll('details')) d.open = true`))
	if w := ask[[]int](b, `[document.documentElement.scrollWidth, innerWidth]`); w[0] > w[1] || w[1] != 360 {
		t.Errorf("%d wide on a screen of %d", w[0], w[1])
	}
	if n := ask[int](b, `[...document.querySelectorAll('.chart')].filter(c => c.checkVisibility()).length`); n != ask[int](b, `document.querySelectorAll('.narrow').length`) {
		t.Errorf("%d charts are shown", n)
	}
	b.clean(address)
}

// TestBrowserPrint: on paper the page is light, folds are open, and there is a PDF.
func TestBrowserPrint(t *testing.T) {
	b := newBrowser(t)
	b.scheme("print", "dark")
	address := b.open(pageOf(t, hostileSelection(), gridDocument()))
	if got := ask[string](b, backgroundOf); got != "rgb(255, 255, 255)" {
		t.Errorf("background %s on paper", got)
	}
	if ask[bool](b, `document.getElementById('theme').checkVisibility()`) {
		t.Error("the button is printed")
	}
	ask[bool](b, `dispatchEvent(new Event('beforeprint'))`)
	if n := ask[int](b, `document.querySelectorAll('details:not([open])').length`); n > 0 {
		t.Errorf("%d folds are closed on paper", n)
	}
	ask[bool](b, `dispatchEvent(new Event('afterprint'))`)
	if n := ask[int](b, `document.querySelectorAll('details:not([open])').length`); n == 0 {
		t.Error("the folds stay open after printing")
	}
	pdf, err := chromedp.Run(b.ctx, chromedp.PrintToPDF())
	if err != nil || len(pdf) < 10_000 || !strings.HasPrefix(string(pdf), "%PDF-") {
		t.Errorf("PDF of %d bytes: %v", len(pdf), err)
	}
	b.clean(address)
}

// TestBrowserNotices: the faults that the tests above look for are found in a bad page.
func TestBrowserNotices(t *testing.T) {
	b := newBrowser(t)
	html := strings.Replace(pageOf(t, curveDocument()), "<h1>", `<script>document.title = 'ran'</script><img src="http://127.0.0.1:1/x.png"><p style="color:red">x</p><h1>`, 1)
	b.open(html)
	ask[bool](b, `console.error('seen') === undefined`)
	if ask[string](b, `document.title`) == "ran" {
		t.Error("a foreign script ran")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	all := strings.Join(b.faults, "\n")
	for _, want := range []string{"script-src", "img-src", "style-src", "console.error"} {
		if !strings.Contains(all, want) {
			t.Errorf("no word of %s in %q", want, b.faults)
		}
	}
}
