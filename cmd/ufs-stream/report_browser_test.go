package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
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

	"github.com/ufs-stream/ufs-stream/ufs"
)

// chromium opens the page at path in a headless browser, or skips the test where there is
// none. quiet wants no fault in the browser and no load of anything but the page.
func chromium(t *testing.T, path string) (ctx context.Context, quiet func()) {
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
	tab, closeTab := chromedp.NewContext(ctx)
	t.Cleanup(func() {
		if err := chromedp.Cancel(tab); err != nil {
			t.Logf("closing the browser: %v", err)
		}
		closeTab()
	})
	var mu sync.Mutex
	var faults, loads []string
	if err := chromedp.Listen(tab, func(event any) {
		mu.Lock()
		defer mu.Unlock()
		switch e := event.(type) {
		case *runtime.EventConsoleAPICalled:
			faults = append(faults, "console."+string(e.Type))
		case *runtime.EventExceptionThrown:
			faults = append(faults, "exception: "+e.ExceptionDetails.Text)
		case *log.EventEntryAdded:
			faults = append(faults, e.Entry.Text)
		case *page.EventJavascriptDialogOpening:
			faults = append(faults, "dialog: "+e.Message)
		case *network.EventRequestWillBeSent:
			if !strings.HasPrefix(e.Request.URL, "data:") {
				loads = append(loads, e.Request.URL)
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(tab, 2*time.Minute)
	t.Cleanup(cancel)
	if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, log.Enable, struct{}{}); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Do(ctx, chromedp.Navigate("file://"+path)); err != nil {
		t.Fatal(err)
	}
	return ctx, func() {
		t.Helper()
		if _, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("new Promise(done => setTimeout(() => done(true), 100))", chromedp.EvalAwaitPromise)); err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		defer mu.Unlock()
		if len(faults) > 0 || !slices.Equal(loads, []string{"file://" + path}) {
			t.Errorf("the browser reports %q and loaded %q", faults, loads)
		}
	}
}

// TestReportInBrowser: the browser shows the mask of a selection from COIL20.
func TestReportInBrowser(t *testing.T) {
	in := dataset(t, "coil20.parquet")
	dir := t.TempDir()
	sel, out := filepath.Join(dir, "coil20.json"), filepath.Join(dir, "report.html")
	must(t, "select", in, "--scale", "none", "-k", "40", "--label", "label", "-o", sel)
	must(t, "report", sel, "-o", out)
	ctx, quiet := chromium(t, out)
	quiet()
	mask, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](`[...document.querySelectorAll('.mask rect')].filter(r => r.getBoundingClientRect().width > 4).map(r => r.querySelector('title').textContent)`))
	if err != nil {
		t.Fatal(err)
	}
	s, err := ufs.ReadSelection(sel)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range s.Selected {
		if i >= len(mask) || !strings.HasPrefix(mask[i], f.Name+": rank ") {
			t.Errorf("pixel %s is not in the mask", f.Name)
		}
	}
	if len(mask) != 40 {
		t.Errorf("%d pixels in the mask", len(mask))
	}
	// The image beneath is drawn: the objects' mean is brighter in the middle than in a corner.
	type mean struct{ Middle, Corner, Side float64 }
	seen, err := chromedp.Run(ctx, chromedp.Evaluate[mean](`(async () => {
		const image = new Image();
		image.src = document.querySelector('.mask image').getAttribute('href');
		await image.decode();
		const canvas = document.createElement('canvas');
		canvas.width = canvas.height = 32;
		const drawing = canvas.getContext('2d', { willReadFrequently: true });
		drawing.drawImage(image, 0, 0);
		return { Middle: drawing.getImageData(16, 16, 1, 1).data[0], Corner: drawing.getImageData(0, 0, 1, 1).data[0], Side: document.querySelector('.mask').getBoundingClientRect().width };
	})()`, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	if seen.Middle < 150 || seen.Corner > 30 || seen.Side < 200 {
		t.Errorf("the mean image: %+v", seen)
	}
	quiet()
}
