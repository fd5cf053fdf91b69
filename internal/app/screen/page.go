package screen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
)

// Page writes text for people to a terminal or a file. It keeps its first error, so that callers need not check every
// call. Several goroutines may use it at the same time.
type Page struct {
	mu  sync.Mutex
	w   io.Writer
	err error
}

// NewPage returns a Page on w.
func NewPage(w io.Writer) *Page { return &Page{w: w} }

// Err returns the first error of the writer, or nil.
func (p *Page) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// Printf works like fmt.Printf, but escapes the arguments by [EscapeText]. So only the format can break a line.
func (p *Page) Printf(format string, args ...any) {
	if false {
		_ = fmt.Sprintf(format, args...) // never executed; makes go vet check the formats of callers
	}
	values := make([]any, len(args))
	for i, a := range args {
		if _, number := a.(int); number { // an int is not escaped, because it may be the width of another argument
			values[i] = a
		} else {
			values[i] = escapedArg{a}
		}
	}
	p.writeText(fmt.Sprintf(format, values...))
}

// Write implements io.Writer for text with line breaks, such as a help text. It escapes by [EscapeLines].
func (p *Page) Write(b []byte) (int, error) {
	p.writeText(EscapeLines(string(b)))
	return len(b), p.Err()
}

// WriteJSONLine writes v to p as a line of JSON; nothing if JSON cannot represent v. Write errors are kept, as in Printf.
func WriteJSONLine(p *Page, v any) {
	var line bytes.Buffer
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return
	}
	var b strings.Builder
	for _, r := range line.String() {
		if r != 0x7f && r <= 0xffff {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) { // the page would escape it as Go does, which JSON does not allow
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	_, _ = p.Write([]byte(b.String()))
}

func (p *Page) writeText(s string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		_, p.err = p.w.Write([]byte(s)) // call no other method: w may wrap a writer that has further methods
	}
}

// escapedArg formats itself like its argument, and escapes the result by [EscapeText].
type escapedArg struct{ arg any }

func (v escapedArg) Format(to fmt.State, verb rune) {
	_, _ = io.WriteString(to, EscapeText(fmt.Sprintf(fmt.FormatString(to, verb), v.arg))) // a State does not fail
}

// maxCellLength is the largest number of characters shown in a cell. A name may be longer than a line of any screen.
// Without a limit it would make its column equally wide in every row of the table.
const maxCellLength = 240

// Table writes rows aligned in columns. A column whose head begins with ">" is right-aligned. [CutMiddle] shortens long
// cells.
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
			cells[j] = CutMiddle(EscapeText(c))
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
	p.writeText(b.String())
}

// CutMiddle removes the middle of s if s is too long for a cell of a Table.
func CutMiddle(s string) string {
	if len(s) <= maxCellLength || utf8.RuneCountInString(s) <= maxCellLength {
		return s
	}
	runes := []rune(s)
	return string(runes[:maxCellLength/2]) + "…" + string(runes[len(runes)-maxCellLength/2+1:])
}
