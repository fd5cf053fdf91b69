package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/browsertest"
	"github.com/ufs-stream/ufs-stream/internal/fixtures"
)

// TestReportInBrowser: the browser shows the mask of a selection from COIL20.
func TestReportInBrowser(t *testing.T) {
	in := fixtures.Dataset(t, "coil20.parquet")
	dir := t.TempDir()
	sel, out := filepath.Join(dir, "coil20.json"), filepath.Join(dir, "report.html")
	must(t, "select", in, "--scale", "none", "-k", "40", "--label", "label", "-o", sel)
	must(t, "report", sel, "-o", out)
	tab := browsertest.New(t)
	tab.Open(out)
	tab.Clean()
	mask := browsertest.Ask[[]string](tab, `[...document.querySelectorAll('.mask rect')].filter(r => r.getBoundingClientRect().width > 4).map(r => r.querySelector('title').textContent)`)
	for i, f := range readSelection(t, sel).Selected {
		if i >= len(mask) || !strings.HasPrefix(mask[i], f.Name+": rank ") {
			t.Errorf("pixel %s is not in the mask", f.Name)
		}
	}
	if len(mask) != 40 {
		t.Errorf("%d pixels in the mask", len(mask))
	}
	// The image beneath is drawn: the objects' mean is brighter in the middle than in a corner.
	type mean struct{ Middle, Corner, Side float64 }
	seen := browsertest.Ask[mean](tab, `(async () => {
		const image = new Image();
		image.src = document.querySelector('.mask image').getAttribute('href');
		await image.decode();
		const canvas = document.createElement('canvas');
		canvas.width = canvas.height = 32;
		const drawing = canvas.getContext('2d', { willReadFrequently: true });
		drawing.drawImage(image, 0, 0);
		return { Middle: drawing.getImageData(16, 16, 1, 1).data[0], Corner: drawing.getImageData(0, 0, 1, 1).data[0], Side: document.querySelector('.mask').getBoundingClientRect().width };
	})()`)
	if seen.Middle < 150 || seen.Corner > 30 || seen.Side < 200 {
		t.Errorf("the mean image: %+v", seen)
	}
	tab.Clean()
}
