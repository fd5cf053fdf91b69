// Package progress shows the progress of a run on standard error: as an animated bar, as lines, or as JSON for programs.
package progress

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"github.com/ufs-stream/ufs-stream/cmd/ufs-stream/internal/print"
	"github.com/ufs-stream/ufs-stream/internal/app/screen"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// Snapshot is the state of a pass at one moment. With --progress json it is written as a line.
type Snapshot struct {
	Event   string  `json:"event"` // "progress", or "pass" at the end of the last pass
	What    string  `json:"what"`
	Pass    int     `json:"pass"`
	Passes  int     `json:"passes"` // least number of passes; 0 if unknown
	Most    int     `json:"passes_most"`
	Rows    int64   `json:"rows"`
	Total   int64   `json:"rows_total"` // -1 if unknown, and when all rows are read but the pass has not ended
	Bytes   int64   `json:"bytes"`
	Elapsed float64 `json:"elapsed_s"`
	Rate    float64 `json:"rows_per_s"`
	ETA     float64 `json:"eta_s"` // remaining seconds of the pass; -1 if unknown

	*stream.Transfer // of the pass; nil if nothing was fetched
}

func (s Snapshot) ProgressLine() string {
	passCount, eta := "", ""
	if s.Passes > 0 {
		passCount = fmt.Sprintf(" of %d", s.Passes)
		if s.Most > s.Passes {
			passCount += fmt.Sprintf(" to %d", s.Most)
		}
	}
	if s.ETA >= 0 && s.Rows < s.Total {
		eta = "  ETA " + time.Duration(s.ETA*float64(time.Second)).Round(time.Second).String()
	}
	remote := ""
	if s.Transfer != nil {
		remote = "  " + print.TransferText(*s.Transfer)
	}
	return fmt.Sprintf("pass %d%s  %s  %s rows  %s  %s rows/s%s%s", s.Pass, passCount, s.What,
		humanize.Comma(s.Rows), humanize.IBytes(uint64(s.Bytes)), humanize.Comma(int64(s.Rate)), remote, eta)
}

// progressPrinter shows a snapshot at every interval until it is closed.
type progressPrinter interface {
	interval() time.Duration
	show(Snapshot)
	close()
}

// passClock holds the current pass, and the counts of the meter at the start of this pass.
type passClock struct {
	mu          sync.Mutex
	pass        ufs.Progress
	meter       *stream.Meter
	begin       time.Time
	rows, bytes int64
	fetched     *stream.Transfer
}

// setPhase starts another pass, or updates the description of the current pass.
func (t *passClock) setPhase(p ufs.Progress) {
	t.mu.Lock()
	defer t.mu.Unlock()
	same := t.pass.Pass == p.Pass && t.pass.Rows == p.Rows
	if t.pass = p; same {
		return
	}
	t.begin = time.Now()
	t.rows, t.bytes, t.fetched = t.meter.Rows.Load(), t.meter.Bytes.Load(), t.meter.Transfer()
}

func (t *passClock) takeSnapshot(eventName string) Snapshot {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := Snapshot{
		Event: eventName, What: t.pass.What, Pass: t.pass.Pass, Passes: t.pass.Passes, Most: t.pass.Most, Total: t.pass.Rows, ETA: -1,
		Rows: t.meter.Rows.Load() - t.rows, Bytes: t.meter.Bytes.Load() - t.bytes, Elapsed: time.Since(t.begin).Seconds(),
		Transfer: t.meter.Transfer().Since(t.fetched),
	}
	if s.Passes > 0 { // the estimated number may be too low
		s.Passes = max(s.Passes, s.Pass)
		s.Most = max(s.Most, s.Passes)
	}
	if s.Elapsed > 0 {
		s.Rate = float64(s.Rows) / s.Elapsed
	}
	switch {
	case eventName == "progress" && s.Total > 0 && s.Rows >= s.Total: // all rows are read, and the pass still processes some of them
		s.What += ": finishing"
		s.Total = -1
	case s.Rate > 0 && s.Total >= s.Rows:
		s.ETA = float64(s.Total-s.Rows) / s.Rate
	}
	return s
}

// NewReporter returns a function that receives the phases of a run and shows its progress on w, with the counts of the
// meter. mode is one of [Modes]. A phase is shown from its first report until its report with Done, which ends all
// goroutines.
func NewReporter(w io.Writer, mode string, m *stream.Meter) func(ufs.Progress) {
	var show progressPrinter
	var clock *passClock
	var done chan struct{}
	var wait sync.WaitGroup
	return func(p ufs.Progress) {
		switch {
		case p.Done && clock == nil:
		case p.Done:
			close(done)
			wait.Wait()
			if !p.Failed {
				show.show(clock.takeSnapshot("pass"))
			}
			show.close()
			clock = nil
		case clock != nil:
			clock.setPhase(p)
		default:
			if show = newPrinter(w, mode, p); show == nil {
				return
			}
			clock, done = &passClock{meter: m}, make(chan struct{})
			clock.setPhase(p)
			wait.Add(1)
			go refreshPrinter(show, clock, done, wait.Done)
		}
	}
}

// refreshPrinter shows a snapshot of the clock at every interval until done is closed.
func refreshPrinter(show progressPrinter, clock *passClock, done <-chan struct{}, ended func()) {
	defer ended()
	tick := time.NewTicker(show.interval())
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			show.show(clock.takeSnapshot("progress"))
		case <-done:
			return
		}
	}
}

// Modes lists the ways to show progress, the default first. "auto" is a bar on a terminal, and else the same as "off".
func Modes() []string { return []string{"auto", "tty", "json", "off"} }

func newPrinter(w io.Writer, mode string, p ufs.Progress) progressPrinter {
	if mode == "auto" {
		mode = "off"
		if IsTerminal(w) {
			mode = "lines"
			if os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" {
				mode = "tty"
			}
		}
	}
	switch mode {
	case "off":
		return nil
	case "json":
		return jsonPrinter{screen.NewPage(w)}
	case "lines":
		return linePrinter{screen.NewPage(w)}
	}
	return newBarPrinter(w, p)
}

// jsonPrinter writes one JSON object per line, to be read by programs.
type jsonPrinter struct{ page *screen.Page }

func (p jsonPrinter) interval() time.Duration { return 500 * time.Millisecond }
func (p jsonPrinter) close()                  {}

// show ignores write errors, because a run must continue if nobody reads its progress.
func (p jsonPrinter) show(s Snapshot) { screen.WriteJSONLine(p.page, s) }

// linePrinter writes a plain line at every interval, for terminals without animation.
type linePrinter struct{ w *screen.Page }

func (p linePrinter) interval() time.Duration { return 10 * time.Second }
func (p linePrinter) close()                  {}
func (p linePrinter) show(s Snapshot)         { p.w.Printf("%s\n", s.ProgressLine()) }

type barPrinter struct {
	container *mpb.Progress
	bar       *mpb.Bar
	text      *lineText
}

// lineText is the text in the bar. The printer sets it, and the goroutine that draws the bar reads it.
type lineText struct {
	mu    sync.Mutex
	s     string
	total int64 // rows of the bar; only the printer uses it
}

func (t *lineText) setText(s string) {
	t.mu.Lock()
	t.s = s
	t.mu.Unlock()
}

func (t *lineText) drawText(decor.Statistics) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return screen.EscapeText(t.s)
}

func newBarPrinter(w io.Writer, p ufs.Progress) barPrinter {
	text := &lineText{total: max(p.Rows, 0), s: Snapshot{Pass: p.Pass, Passes: p.Passes, Most: p.Most, What: p.What, ETA: -1}.ProgressLine()}
	all := mpb.New(mpb.WithOutput(w), mpb.WithWidth(24), mpb.WithAutoRefresh())
	bar := all.AddBar(max(p.Rows, 0),
		mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.Percentage(decor.WC{W: 5})),
		mpb.AppendDecorators(decor.Any(text.drawText)))
	return barPrinter{all, bar, text}
}

func (p barPrinter) interval() time.Duration { return 200 * time.Millisecond }

func (p barPrinter) show(s Snapshot) {
	s.What, _, _ = strings.Cut(s.What, ",") // the rest would leave no room for the bar
	p.text.setText(s.ProgressLine())
	if s.Total > 0 {
		p.text.total = s.Total
		p.bar.SetTotal(s.Total, false)
	}
	p.bar.SetCurrent(min(s.Rows, maxBarPercent*p.text.total/100))
}

// maxBarPercent is the most that a bar shows. It is below 100, because the bar is removed when the pass ends.
const maxBarPercent = 99

// close removes the bar from the terminal and waits for its goroutines.
func (p barPrinter) close() {
	p.bar.Abort(true)
	p.container.Wait()
}

func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
