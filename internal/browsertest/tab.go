// Package browsertest opens pages in a headless Chromium, for tests. A [Tab] evaluates JavaScript and records
// whatever a clean page must not do: console messages, exceptions, violations of its policy, dialogs, and loads of
// anything but itself.
package browsertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Tab is a tab of a browser that ends with the test.
type Tab struct {
	Context context.Context // for chromedp's calls
	t       *testing.T
	pages   []string // opened by Open

	mu     sync.Mutex
	faults []string
	loads  []string // requests
}

// New starts Chromium, or skips the test if it is not installed.
func New(t *testing.T) *Tab {
	t.Helper()
	var program string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			program = p
			break
		}
	}
	if program == "" {
		t.Skip("no browser: install chromium (apt-get install chromium) to test the page in one")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.UserDataDir(t.TempDir()))
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
	b := &Tab{t: t}
	if err := chromedp.Listen(ctx, b.recordEvent); err != nil {
		t.Fatal(err)
	}
	// From here on a page that hangs ends the test; starting Chromium had no timeout.
	limited, cancel := context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(cancel)
	b.Context = limited
	_, noNetwork := chromedp.Call(limited, network.Enable, network.EnableParams{})
	_, noLog := chromedp.Call(limited, log.Enable, struct{}{})
	_, noPage := chromedp.Call(limited, page.Enable, page.EnableParams{})
	if err := errors.Join(noNetwork, noLog, noPage); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *Tab) recordEvent(event any) {
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

// Open shows the page in the file at path.
func (b *Tab) Open(path string) {
	b.t.Helper()
	b.pages = append(b.pages, "file://"+path)
	b.RunSteps(chromedp.Navigate("file://" + path))
}

// RunSteps runs steps; they must succeed.
func (b *Tab) RunSteps(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.Context, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// Evaluate evaluates JavaScript in the page. It waits for a promise.
func Evaluate[T any](b *Tab, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.Context, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// FaultsSoFar returns the faults up to now. Before it returns, all earlier ones have been reported.
func (b *Tab) FaultsSoFar() []string {
	b.t.Helper()
	Evaluate[bool](b, "new Promise(done => setTimeout(() => done(true), 100))")
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.faults)
}

// CheckClean fails the test if there was a fault, or a load of anything but the opened pages.
func (b *Tab) CheckClean() {
	b.t.Helper()
	faults := b.FaultsSoFar()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(faults) > 0 || !slices.Equal(b.loads, b.pages) {
		b.t.Errorf("the browser reports %q and loaded %q", faults, b.loads)
	}
}
