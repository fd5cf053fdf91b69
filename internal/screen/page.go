package screen

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode/utf8"
)

// Page is text for people, on its way to a terminal or a file. It keeps its first error, so that the
// code that prints need not look at every line. Several goroutines may write lines.
type Page struct {
	mu  sync.Mutex
	w   io.Writer
	err error
}

// NewPage returns a Page on w.
func NewPage(w io.Writer) *Page { return &Page{w: w} }

// Err is the first error of the writer, or nil.
func (p *Page) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// Printf is fmt.Printf. Only the format can break a line: whatever an argument holds is shown as [Text].
func (p *Page) Printf(format string, args ...any) {
	if false {
		_ = fmt.Sprintf(format, args...) // go vet checks the formats of whoever calls this
	}
	values := make([]any, len(args))
	for i, a := range args {
		if _, number := a.(int); number { // which may also be the width of another one
			values[i] = a
		} else {
			values[i] = value{a}
		}
	}
	p.write(fmt.Sprintf(format, values...))
}

// Write implements io.Writer for what others have composed, such as a help text: its line breaks stay.
func (p *Page) Write(b []byte) (int, error) {
	p.write(Lines(string(b)))
	return len(b), p.Err()
}

func (p *Page) write(s string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		_, p.err = p.w.Write([]byte(s)) // by no other method: w may be around a writer that has more
	}
}

// value formats itself as what it holds would, and shows the result.
type value struct{ of any }

// Format implements fmt.Formatter.
func (v value) Format(to fmt.State, verb rune) {
	_, _ = io.WriteString(to, Text(fmt.Sprintf(fmt.FormatString(to, verb), v.of))) // a State does not fail
}

// longCell is how much of a cell is shown: a name may be longer than any screen, and would make every
// row of its table as long.
const longCell = 240

// Table writes rows aligned in columns; a column whose head begins with ">" stands to the right. A cell
// that is longer than any screen loses its middle.
func (p *Page) Table(head []string, rows [][]string) {
	right := make([]bool, len(head))
	width := make([]int, len(head))
	names := make([]string, len(head))
	for j, h := range head {
		names[j], right[j] = strings.CutPrefix(h, ">")
	}
	all := make([][]string, 0, len(rows)+1)
	for _, r := range append([][]string{names}, rows...) {
		cells := make([]string, len(r))
		for j, c := range r {
			cells[j] = Cut(Text(c))
			width[j] = max(width[j], utf8.RuneCountInString(cells[j]))
		}
		all = append(all, cells)
	}
	var b strings.Builder
	for _, r := range all {
		var line strings.Builder
		for j, cell := range r {
			pad := strings.Repeat(" ", width[j]-utf8.RuneCountInString(cell))
			if right[j] {
				line.WriteString(pad + cell + "  ")
			} else {
				line.WriteString(cell + pad + "  ")
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	p.write(b.String())
}

// Cut is s without its middle, where it is longer than a cell of a Table may be.
func Cut(s string) string {
	if len(s) <= longCell || utf8.RuneCountInString(s) <= longCell {
		return s
	}
	runes := []rune(s)
	return string(runes[:longCell/2]) + "…" + string(runes[len(runes)-longCell/2+1:])
}
