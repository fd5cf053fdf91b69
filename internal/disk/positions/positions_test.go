package positions_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"reflect"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/disk/positions"
	"github.com/ufs-stream/ufs-stream/internal/disk/words"
	"github.com/ufs-stream/ufs-stream/stream"
)

func recordOf(total int, columns, leftOut []int) *positions.Record {
	r := positions.New(len(columns), len(leftOut))
	r.Total = total
	for j, i := range columns {
		r.Columns[j] = stream.PositionAt(i)
	}
	for j, i := range leftOut {
		r.LeftOut[j] = stream.PositionAt(i)
	}
	return r
}

// TestRoundTrip: a written record reads back, and consists of the words listed in docs/statistics-file.md.
func TestRoundTrip(t *testing.T) {
	want := recordOf(6, []int{1, 4, 4, -1}, []int{0, 5}) // -1 is unknown
	var b bytes.Buffer
	if _, err := want.WriteTo(&b); err != nil {
		t.Fatalf("writing: %v", err)
	}
	expected := []byte("ufsposn1")
	for _, word := range []uint64{6, 4, 2, 5, 5, 0, 2, 1, 6} {
		expected = binary.LittleEndian.AppendUint64(expected, word)
	}
	if !bytes.Equal(b.Bytes(), expected) {
		t.Errorf("got %v\nwant %v", b.Bytes(), expected)
	}
	got := positions.New(4, 2)
	if _, err := got.ReadFrom(&b); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v (%v)\nwant %v", got, err, want)
	}
}

// TestRefusesOthers: a record of other columns, or of a position beyond the input, is none; the state stays.
func TestRefusesOthers(t *testing.T) {
	for name, bad := range map[string]*positions.Record{
		"more columns":       recordOf(6, []int{1, 2, 3}, nil),
		"fewer columns":      recordOf(6, []int{1}, nil),
		"more left out":      recordOf(6, []int{1, 2}, []int{0}),
		"beyond the input":   recordOf(2, []int{1, 2}, nil),
		"columns of nothing": recordOf(0, []int{1, 2}, nil),
	} {
		var b bytes.Buffer
		if _, err := bad.WriteTo(&b); err != nil {
			t.Fatalf("%s: writing: %v", name, err)
		}
		got := positions.New(2, 0)
		if _, err := got.ReadFrom(&b); !errors.Is(err, words.ErrFormat) || !reflect.DeepEqual(got, positions.New(2, 0)) {
			t.Errorf("%s: got %v, error %v; want a refusal and an empty record", name, got, err)
		}
	}
}

// FuzzRecord: any bytes are refused, or equal the record written again.
func FuzzRecord(f *testing.F) {
	var b bytes.Buffer
	if _, err := recordOf(6, []int{1, 4}, []int{0}).WriteTo(&b); err != nil {
		f.Fatalf("writing: %v", err)
	}
	f.Add(b.Bytes(), 2, 1)
	f.Add(b.Bytes()[:20], 2, 1)
	f.Add([]byte("ufsposn1"), 0, 0)
	f.Fuzz(func(t *testing.T, text []byte, columns, leftOut int) {
		const most = 100
		r := positions.New(min(max(columns, 0), most), min(max(leftOut, 0), most))
		n, err := r.ReadFrom(bytes.NewReader(text))
		if err != nil {
			return
		}
		var again bytes.Buffer
		if _, err := r.WriteTo(&again); err != nil || !bytes.Equal(again.Bytes(), text[:n]) {
			t.Errorf("read %v and wrote %v (%v)", text[:n], again.Bytes(), err)
		}
	})
}
