// Package browsertest opens pages in a headless Chromium, for tests. A [Tab] evaluates JavaScript and records
// everything that a clean page must not cause: console messages, exceptions, violations of the page's security policy,
// dialogs, and loads of other files.
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

// browser is the one Chromium of this process, if a test has opened a tab. Starting it takes half a second of CPU.
var browser struct {
	mu      sync.Mutex
	context context.Context // nil: it has not started
	end     func() error
}

// RunTests runs the tests of a package and ends the browser that they have started. It returns the exit code.
func RunTests(m *testing.M) int {
	code := m.Run()
	browser.mu.Lock()
	defer browser.mu.Unlock()
	if browser.context != nil {
		if err := browser.end(); err != nil {
			fmt.Fprintf(os.Stderr, "closing the browser: %v\n", err)
		}
	}
	return code
}

func startBrowser(t *testing.T) context.Context {
	t.Helper()
	browser.mu.Lock()
	defer browser.mu.Unlock()
	if browser.context != nil {
		return browser.context
	}
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
	profile, err := os.MkdirTemp("", "ufs-stream-browser")
	if err != nil {
		t.Fatal(err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.UserDataDir(profile))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium's sandbox does not work for root
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, _ := chromedp.NewContext(allocator) // Cancel ends it
	end := func() error {
		err := chromedp.Cancel(ctx) // waits until Chromium has ended, because only then its profile can be removed
		stop()
		return errors.Join(err, os.RemoveAll(profile))
	}
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(errors.Join(err, end()))
	}
	browser.context, browser.end = ctx, end
	return ctx
}

// Tab is a tab of the browser, with cookies and storage of its own. It closes with the test.
type Tab struct {
	Context context.Context // for chromedp's calls
	t       *testing.T
	pages   []string // pages opened by Open

	mu     sync.Mutex
	faults []string
	loads  []string // requested URLs
}

// New opens a tab, or skips the test if Chromium is not installed. The package's TestMain must call [RunTests].
func New(t *testing.T) *Tab {
	t.Helper()
	ctx, closeTab := chromedp.NewContext(startBrowser(t), chromedp.WithNewBrowserContext())
	t.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil {
			t.Logf("closing the tab: %v", err)
		}
		closeTab()
	})
	b := &Tab{t: t}
	if err := chromedp.Listen(ctx, b.recordEvent); err != nil {
		t.Fatal(err)
	}
	// The timeout begins only here, so that it does not include the start of Chromium. If a page hangs, the timeout
	// ends the test.
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

// Open loads the page in the file at path.
func (b *Tab) Open(path string) {
	b.t.Helper()
	b.pages = append(b.pages, "file://"+path)
	b.RunSteps(chromedp.Navigate("file://" + path))
}

// RunSteps runs steps, and fails the test if one of them fails.
func (b *Tab) RunSteps(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.Context, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// Evaluate evaluates JavaScript in the page. If the result is a promise, it waits for the value.
func Evaluate[T any](b *Tab, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.Context, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// FaultsSoFar returns all faults that the page has caused before the call.
func (b *Tab) FaultsSoFar() []string {
	b.t.Helper()
	Evaluate[bool](b, "new Promise(done => setTimeout(() => done(true), 100))")
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.faults)
}

// CheckClean fails the test if a fault was recorded, or if a page loaded anything except the pages passed to Open.
func (b *Tab) CheckClean() {
	b.t.Helper()
	faults := b.FaultsSoFar()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(faults) > 0 || !slices.Equal(b.loads, b.pages) {
		b.t.Errorf("the browser reports %q and loaded %q", faults, b.loads)
	}
}
