package progress

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// TestProgressIsNotDoneBefore: a pass that has read all of its rows, or more than were foreseen, and still works says
// that it finishes, in JSON with an unknown total, on a bar below 100 %; the last line of it has all rows of all.
func TestProgressIsNotDoneBefore(t *testing.T) {
	for _, rows := range []int64{0, 1, 500, 999, 1000, 1500} {
		meter := new(stream.Meter)
		clock := &passClock{meter: meter}
		clock.setPhase(ufs.Progress{What: "statistics", Pass: 1, Passes: 1, Rows: 1000})
		meter.Rows.Add(rows)
		s := clock.takeSnapshot("progress")
		if finishing := rows >= 1000; finishing != (s.Total == -1) || finishing != strings.HasSuffix(s.What, "finishing") || s.Rows != rows || finishing && s.ETA >= 0 {
			t.Errorf("%d of 1000 rows: %+v", rows, s)
		}
		if s := clock.takeSnapshot("pass"); s.Total != 1000 || s.What != "statistics" {
			t.Errorf("the last of %d rows: %+v", rows, s)
		}
		var drawn bytes.Buffer
		bar := newBarPrinter(&drawn, ufs.Progress{What: "statistics", Pass: 1, Passes: 1, Rows: 1000})
		bar.show(clock.takeSnapshot("progress"))
		time.Sleep(300 * time.Millisecond) // the bar draws itself every 150
		bar.close()
		if full := regexp.MustCompile(`\b100 ?%`).FindString(drawn.String()); full != "" || !strings.Contains(drawn.String(), "%") {
			t.Errorf("%d of 1000 rows: the bar shows %s:\n%q", rows, full, drawn.String())
		}
	}
}

// TestLineHasTransfer: the line of a pass names the amount of data fetched from object stores, if there is any.
func TestLineHasTransfer(t *testing.T) {
	line := Snapshot{Transfer: &stream.Transfer{Fetched: 2048, Requests: 1300, Retries: 1}, ETA: -1}.ProgressLine()
	if !strings.Contains(line, "fetched 2.0 KiB in 1,300 requests, 1 of them sent again") {
		t.Errorf("the progress line is %q", line)
	}
	if line := (Snapshot{ETA: -1}).ProgressLine(); strings.Contains(line, "fetched") {
		t.Errorf("the progress line of a local run is %q", line)
	}
}
