package intake

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// Cut in pieces, text has the records that the library reads of it as a whole.
func FuzzCut(f *testing.F) {
	f.Add([]byte("a,b\n1,\"x\ny\"\n2,\"\"\"\"\n"), uint8(3))
	f.Add([]byte("a\r\n\r\n\"\n\n\"\nb"), uint8(1))
	f.Fuzz(func(t *testing.T, data []byte, goal uint8) {
		whole, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
		if err != nil {
			t.Skip()
		}
		c := cutter{from: bytes.NewReader(data), name: "in", quotes: true, goal: int(goal) + 1, maxRow: 1 << 20, line: 1}
		var parts [][]string
		line := int64(1)
		for {
			p, err := c.nextPiece(nil)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("cutting the next piece: %v", err)
			}
			if p.line != line {
				t.Fatalf("a piece begins in line %d, not %d", p.line, line)
			}
			line += int64(bytes.Count(p.data, []byte{'\n'}))
			records, err := csv.NewReader(bytes.NewReader(p.data)).ReadAll()
			if err != nil {
				t.Fatalf("piece %q: %v", p.data, err)
			}
			parts = append(parts, records...)
		}
		if !slices.EqualFunc(whole, parts, slices.Equal) {
			t.Fatalf("%q in pieces of %d: %q, want %q", data, goal, parts, whole)
		}
	})
}

func FuzzCSV(f *testing.F) {
	f.Add([]byte("a,b\n1,2.5\nNA,\"x\"\"y\"\n"))
	f.Add([]byte("a;b\r\n2026-01-31;true\r\n"))
	f.Add([]byte("2001,2002,2003\n1,5,2\n2,4,7\n3,9,1\n"))
	f.Add([]byte("a;b\n3,14;?\n\"1 234,5\";$12\n-999;12%\n"))
	f.Add([]byte("A001,\xE2\x88\x922\n\"x\n\",EUR 4\nA002,(7)\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		survives(CSV, data)
		for _, header := range []string{"yes", "no"} {
			names := map[string]bool{}
			_, table, err := taken(CSV, data, Options{Memory: 64 << 20, TextOptions: TextOptions{Header: header, Nulls: []string{"?", "-999"}}})
			if err != nil {
				continue
			}
			for _, c := range table.Columns {
				names[c.Name] = true
			}
			if header == "no" && (!names["c0"] || len(names) != len(table.Columns)) {
				t.Errorf("%q without names: columns %v", data, table.Columns)
			}
			for _, c := range table.Columns {
				if c.Why != "" && c.Kind != Text || c.Identifier && c.Why == "" {
					t.Errorf("%q: column %q is %v and identifies: %v, for the reason %q", data, c.Name, c.Kind, c.Identifier, c.Why)
				}
			}
		}
		if strings.Count(string(data), "\n") > 0 {
			survives(TSV, data)
		}
	})
}

// FuzzFindPaths: whatever the text, every path that is found for a name is spelled so, and is there once.
func FuzzFindPaths(f *testing.F) {
	f.Add([]byte(`{"a.b":1,"a":{"b":2,"c":[1,{"d":null}]}}`), "a.b")
	f.Add([]byte("\xEF\xBB\xBF{\"a\":[[1],[]]} {\"a[0][0]\":true}"), "a[0][0]")
	f.Fuzz(func(t *testing.T, text []byte, name string) {
		found, err := FindPaths(bytes.NewReader(text), []string{name})
		if err != nil {
			return
		}
		for i, path := range found[name] {
			var spelled strings.Builder
			for k, s := range path {
				switch {
				case s.Index >= 0:
					fmt.Fprintf(&spelled, "[%d]", s.Index)
				case k > 0:
					spelled.WriteString("." + s.Member)
				default:
					spelled.WriteString(s.Member)
				}
			}
			twice := slices.ContainsFunc(found[name][:i], func(other []Step) bool { return slices.Equal(other, path) })
			if spelled.String() != name || twice {
				t.Errorf("got path %v of %q, twice: %t, want one that is spelled so", path, name, twice)
			}
		}
	})
}
