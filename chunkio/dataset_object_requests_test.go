package chunkio

import (
	"net/url"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/dataset"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// plantWeb puts three days of files of a format onto a web server.
func plantWeb(t *testing.T, ending string) (s *webServer, inputs []string) {
	t.Helper()
	s = newWebServer(t, true)
	keys, content := lakeFiles(t, ending)
	for _, key := range keys {
		s.put(key, content[key])
		inputs = append(inputs, s.URL+(&url.URL{Path: "/" + key}).EscapedPath())
	}
	return s, inputs
}

// A pass sends one request for each row group, whatever it reads of it: a class, weights, columns of conditions,
// sparse lists, by spans or spooled, in both formats. It requests no row group that statistics exclude, nor the
// condition's column if they decide for all rows.
func TestPassAsksOnceForEachRowGroup(t *testing.T) {
	const groups = 3 * lakeGroups
	for _, ending := range []string{".parquet", ".arrow"} {
		s, inputs := plantWeb(t, ending)
		for name, c := range map[string]struct {
			opt      Options
			of, more int // row groups, if statistics are known; requests of further passes
		}{
			"dense":   {Options{Missing: stream.MissingKeep, Label: "label", Classes: true, Weight: "weight", Exclude: []string{"c1?"}}, groups, 0},
			"where":   {Options{Missing: stream.MissingKeep, Where: `site == "a" and rank >= 1400`}, groups - 6, 0},
			"decided": {Options{Missing: stream.MissingKeep, Columns: []string{"c0*"}, Where: `rank >= 700`}, groups - 3, 0},
			"sampled": {Options{Missing: stream.MissingKeep, Where: `emb[1] > 0.5`, Sample: 2000}, groups, groups},
			"sparse":  {Options{Sparse: "index,value,40", Weight: "weight"}, groups, 0},
		} {
			opened, err := Open(t.Context(), inputs, c.opt)
			formattest.Must(t, err)
			for _, tight := range []bool{false, true} {
				opt := dataset.TableOf(opened).Options
				opt.Meter = new(stream.Meter)
				if tight {
					opt.Memory, opt.Threads = opened.MinMemory(), 2
				}
				ds, err := Open(t.Context(), inputs, opt) // its filter has not found a sample yet
				formattest.Must(t, err)
				s.requests = 0
				_, err = chunkiotest.CollectRows(ds, stream.Range{})
				formattest.Must(t, err)
				want := c.of
				if ending == ".arrow" {
					want = groups // no statistics
				}
				if want += c.more; s.requests != want {
					t.Errorf("%s of %s, tight %v: %d requests, want %d", name, ending, tight, s.requests, want)
				}
			}
		}
	}
}

// A condition that statistics decide costs no byte.
func TestDecidedConditionFetchesNothing(t *testing.T) {
	_, inputs := plantWeb(t, ".parquet")
	var fetched []int64
	for _, condition := range []string{"", "rank >= 0", "rank >= 0 or site == \"a\""} {
		ds, err := Open(t.Context(), inputs, Options{Missing: stream.MissingKeep, Columns: []string{"c0*"}, Where: condition, Meter: new(stream.Meter)})
		formattest.Must(t, err)
		before := dataset.TableOf(ds).Options.Meter.Fetched.Load()
		_, err = chunkiotest.CollectRows(ds, stream.Range{})
		formattest.Must(t, err)
		fetched = append(fetched, dataset.TableOf(ds).Options.Meter.Fetched.Load()-before)
	}
	if fetched[1] != fetched[0] || fetched[2] != fetched[0] {
		t.Errorf("%d bytes fetched under conditions that are true of all rows", fetched)
	}
}
