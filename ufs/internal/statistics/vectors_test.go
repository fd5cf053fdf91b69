package statistics

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/disk/positions"
	"github.com/ufs-stream/ufs-stream/internal/disk/words/wordstest"
	"github.com/ufs-stream/ufs-stream/internal/judging/halves"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// openVector opens a file of testdata/vectors. These files keep the binary forms as they were when the files were made.
// checkpoint.ufs has states that only checkpoints contain. The other files are outputs of `ufs-stream scan`, at least one
// for each kind of statistics.
func openVector(t *testing.T, name string) *chunkio.StatsReader {
	r := must.Get(chunkio.OpenStats(t.Context(), filepath.Join("testdata", "vectors", name), chunkio.FetchOptions{Memory: 1 << 28}))(t)
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func sectionBytes(t *testing.T, r *chunkio.StatsReader, name string) []byte {
	body := must.Get(r.SectionReader(name))(t)
	return must.Get(io.ReadAll(body))(t)
}

func checkVector(t *testing.T, r *chunkio.StatsReader, section string, state State) {
	want := sectionBytes(t, r, section)
	if _, err := state.ReadFrom(bytes.NewReader(want)); err != nil {
		t.Fatalf("reading section %s: %v", section, err)
	}
	if got := wordstest.EncodeState(t, state); !bytes.Equal(got, want) {
		t.Errorf("section %s has %d bytes that differ from the %d of the vector", section, len(got), len(want))
	}
}

// TestVectors reads every section of the vectors and writes the same bytes again.
func TestVectors(t *testing.T) {
	seen := make(map[string]bool)
	for _, entry := range must.Get(os.ReadDir("testdata/vectors"))(t) {
		t.Run(entry.Name(), func(t *testing.T) {
			r := openVector(t, entry.Name())
			if entry.Name() == "checkpoint.ufs" {
				checkCheckpointVector(t, r)
				return
			}
			e := NewBundle(r.Header)
			opt := StateOptions{Threads: 1, Limit: 1 << 28, GraphLimit: 1 << 28, Shards: must.Get(HashShardCount(r))(t)}
			for _, k := range stateKinds {
				if r.Has(k.section) {
					seen[k.section] = true
					must.Do(t, k.makeEmpty(e, opt))
					state := k.state(e)
					if state == nil { // the profile of moments
						state = &e.Moments.Profile
					}
					checkVector(t, r, k.section, state)
				}
			}
			checkVector(t, r, positionsSection, positions.New(len(e.Columns), len(e.LeftOut)))
		})
	}
	for _, k := range stateKinds {
		if !seen[k.section] && k.section != ValuesSection { // which has the form of a profile
			t.Errorf("no vector has section %s", k.section)
		}
	}
}

func checkCheckpointVector(t *testing.T, r *chunkio.StatsReader) {
	const rows = 60
	d := len(r.Header.Columns)
	checkVector(t, r, KeptSection, gram.NewRows(d, rows, 1, false))
	checkVector(t, r, "kept-narrow", gram.NewRows(d, rows, 1, true))
	checkVector(t, r, waitingSection, halves.New(d, 1, 3, make([]stream.Adder, 4)))
	profile, sample := gram.NewProfile(d), anchor.NewSampler(d, anchor.SamplerOptions{Entries: true})
	checkVector(t, r, ProfileSection, profile)
	checkVector(t, r, SampleSection, sample)
	std := must.Get(gram.NewStandardizer(profile, r.Header.Columns, gram.ScaleNone, gram.FillMean))(t)
	anchors := must.Get(anchor.Random(sample, sample.Len(), std, 2))(t)
	checkVector(t, r, graphSection, must.Get(anchor.NewStatistics(anchors, anchor.Options{Neighbors: 1, Entries: append(slices.Repeat([]int64{20}, d-1), rows)}))(t))
}
