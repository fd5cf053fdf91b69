package print

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/app/screen"
	"github.com/ufs-stream/ufs-stream/stream"
)

// TestSharedNamesInOneLine: columns that are left out with one name and reason are one line, and all are counted.
func TestSharedNamesInOneLine(t *testing.T) {
	left := []stream.LeftOut{{Name: "a", Why: "shared"}, {Name: "t", Why: "text"}, {Name: "a", Why: "shared"}, {Name: "a", Why: "text"}}
	for i := range 9 {
		left = append(left, stream.LeftOut{Name: fmt.Sprint(i % 8), Why: "text"})
	}
	var b bytes.Buffer
	printLeftOut(screen.NewPage(&b), left, false)
	want := "\nleft out (13):\n  a (2 columns): shared\n  t: text\n  a: text\n  0 (2 columns): text\n"
	if got := b.String(); !strings.HasPrefix(got, want) || strings.Count(got, "\n") != 13 || !strings.HasSuffix(got, "  and 1 more; -v lists them\n") {
		t.Errorf("columns left out: got\n%s\nwant it to begin with\n%s", got, want)
	}
}
