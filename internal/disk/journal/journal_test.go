package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

type note struct {
	Text string `json:"text"`
}

// entry is a record with the content of its body; no body is "-".
type entry struct{ text, body string }

// reopen opens the log at path, and returns its records.
func reopen(t *testing.T, path string) (l *Log[note], isCut bool, list []entry) {
	t.Helper()
	file := must.Get(os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600))(t)
	t.Cleanup(func() { file.Close() })
	var places []Body
	l, isCut, err := OpenLog(file, func(n note, b Body) (bool, error) {
		list, places = append(list, entry{n.Text, "-"}), append(places, b)
		return true, nil
	})
	must.Do(t, err)
	for i, b := range places {
		if b != (Body{}) {
			list[i].body = string(must.Get(io.ReadAll(l.OpenBytes(b.At, b.Bytes)))(t))
		}
	}
	return l, isCut, list
}

// add appends an entry.
func add(t *testing.T, l *Log[note], e entry) {
	t.Helper()
	if e.body == "-" {
		must.Do(t, l.AppendRecord(note{e.text}))
		return
	}
	must.Get(l.AppendRecordWithBody(note{e.text}, int64(len(e.body)), strings.NewReader(e.body)))(t)
}

// TestLog: a log that is cut off anywhere, or has a byte changed, holds the records before that place and no others,
// and continues from there.
func TestLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	want := []entry{{"one", "-"}, {"two", ""}, {"three", "a body\nof two lines"}, {"four", strings.Repeat("\n\x00", 30)}, {strings.Repeat("x", 30), "-"}}
	l, isCut, list := reopen(t, path)
	if isCut || list != nil {
		t.Errorf("a new log has %v, cut %t", list, isCut)
	}
	ends := []int64{0}
	for _, e := range want {
		add(t, l, e)
		ends = append(ends, l.end)
	}
	if l.synced != 0 {
		t.Errorf("synced up to %d before that", l.synced)
	}
	if must.Do(t, l.SyncToDisk()); l.synced != l.end {
		t.Errorf("synced up to %d of %d", l.synced, l.end)
	}
	whole := must.Get(os.ReadFile(path))(t)
	for at := range len(whole) + 1 {
		before := 0
		for before < len(want) && ends[before+1] <= int64(at) {
			before++
		}
		contents := [][]byte{whole[:at]}
		if at < len(whole) {
			flipped := slices.Clone(whole)
			flipped[at] ^= 1 << (at % 8)
			contents = append(contents, flipped)
		}
		for i, content := range contents {
			must.Do(t, os.WriteFile(path, content, 0o600))
			l, isCut, list := reopen(t, path)
			if !slices.Equal(list, want[:before]) || isCut != (ends[before] < int64(len(content))) {
				t.Fatalf("byte %d, changed %t: %q, cut %t, want %d records", at, i > 0, list, isCut, before)
			}
			add(t, l, entry{"more", "text"})
			if _, _, list = reopen(t, path); !slices.Equal(list, append(slices.Clone(want[:before]), entry{"more", "text"})) {
				t.Fatalf("byte %d, changed %t: continued it has %q", at, i > 0, list)
			}
		}
	}
}

// TestRefused: what the caller refuses is cut off, and what fails leaves the log as it was.
func TestRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l, _, _ := reopen(t, path)
	for i := range 3 {
		add(t, l, entry{fmt.Sprint(i), "-"})
	}
	failed := errors.New("failed")
	if _, err := l.AppendRecordWithBody(note{}, 3, strings.NewReader("of another length")); err == nil {
		t.Error("a body of another length is appended")
	}
	if _, err := l.AppendRecordWithBody(note{}, 3, failing{failed}); !errors.Is(err, failed) {
		t.Errorf("appending a body that fails: %v", err)
	}
	file := must.Get(os.OpenFile(path, os.O_RDWR, 0))(t)
	defer file.Close()
	if _, _, err := OpenLog(file, func(note, Body) (bool, error) { return true, failed }); !errors.Is(err, failed) {
		t.Errorf("got %v, want the error of the caller", err)
	}
	if _, _, list := reopen(t, path); len(list) != 3 {
		t.Errorf("after failures the log has %q, want 3 records", list)
	}
	must.Get(file.Seek(0, io.SeekStart))(t)
	_, isCut, err := OpenLog(file, func(n note, _ Body) (bool, error) { return n.Text != "1", nil })
	if _, _, list := reopen(t, path); err != nil || !isCut || len(list) != 1 {
		t.Errorf("after a refusal the log has %q, cut %t, %v", list, isCut, err)
	}
	var none *Log[note]
	must.Do(t, none.SyncToDisk())
	none.Close()
}

type failing struct{ err error }

func (f failing) WriteTo(w io.Writer) (int64, error) {
	n, _ := io.WriteString(w, "ab")
	return int64(n), f.err
}

// FuzzLog: any text is read up to a place in it, each body lies before that place, and a record that is appended then
// is there the next time, with all before it.
func FuzzLog(f *testing.F) {
	f.Add(`{"text":"a"}`, []byte("torn"))
	f.Add(`+3 {"text":"b"}`, []byte("abc"))
	f.Add("+9223372036854775807 {}", []byte("\xff\xff\xff\xff"))
	f.Add("+-1 {}", []byte{})
	f.Add("+ []", make([]byte, 40))
	path := filepath.Join(f.TempDir(), "log")
	f.Fuzz(func(t *testing.T, line string, behind []byte) {
		text := must.Get(AppendLine(nil, note{"first"}))(t)
		text = append(text, prefixWithChecksum(line)...)
		must.Do(t, os.WriteFile(path, append(text, behind...), 0o600))
		l, _, list := reopen(t, path)
		if len(list) == 0 || list[0].text != "first" {
			t.Fatalf("a sound record is lost: %q", list)
		}
		add(t, l, entry{"last", "body"})
		if _, isCut, again := reopen(t, path); isCut || !slices.Equal(again, append(list, entry{"last", "body"})) {
			t.Errorf("%q continued is %q", list, again)
		}
	})
}
