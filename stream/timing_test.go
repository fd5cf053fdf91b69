package stream

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// TestTimingRoundTrip: encoded timings decode to the same, parts that took no time are not written, and
// selections of before there were parts are read.
func TestTimingRoundTrip(t *testing.T) {
	var b Busy
	b.Add(PartDecode, 3*time.Second)
	before := b.Parts()
	b.Add(PartGram, 1500*time.Millisecond)
	b.Add(PartDecode, -time.Second)
	b.Add(PartDecode, 2*time.Second)
	want := Timing{Read: 1, Accumulate: 2, Wall: 3, Parts: b.Parts().Since(before)}
	if want.Parts != (TimingParts{Decode: 1, Gram: 1.5}) {
		t.Errorf("parts %+v", want.Parts)
	}
	var text bytes.Buffer
	must.Do(t, (&Selection{Timing: want}).Encode(&text))
	if got := must.Get(DecodeSelection(bytes.NewReader(text.Bytes())))(t); got.Timing != want {
		t.Errorf("%+v, want %+v", got.Timing, want)
	}
	if said := string(must.Get(json.Marshal(want))(t)); !strings.HasSuffix(said, `"wall_s":3,"parts":{"decode_s":1,"gram_s":1.5}}`) {
		t.Errorf("written as %s", said)
	}
	old := `{"schema":"` + SelectionSchema + `","timing":{"read_s":1,"accumulate_s":2,"solve_s":0,"wall_s":3}}`
	want.Parts = TimingParts{}
	if got := must.Get(DecodeSelection(strings.NewReader(old)))(t); got.Timing != want {
		t.Errorf("of an old file: %+v, want %+v", got.Timing, want)
	}
	if said := string(must.Get(json.Marshal(want))(t)); strings.Contains(said, "parts") {
		t.Errorf("parts of nothing: %s", said)
	}
}

// TestBusyOfNothing: nil measures nothing.
func TestBusyOfNothing(t *testing.T) {
	var b *Busy
	b.Add(PartRead, time.Second)
	if b.Parts() != (TimingParts{}) {
		t.Error("nil has measured something")
	}
}
