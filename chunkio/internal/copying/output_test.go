package copying

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/listing"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/opening"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/settings"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// takenLaw checks that an output is refused if and only if the same arguments expand to it once it is written.
func takenLaw(t *testing.T, a *opening.Access, args, out string, isFolder bool, create, remove func()) (refused bool) {
	t.Helper()
	list := must.Get(listing.ExpandInputs(t.Context(), a, strings.Fields(args)))(t)
	var below map[string]string
	if isFolder {
		below = map[string]string{"x": filepath.Join("in", "n.parquet")}
	}
	err := list.CheckOutput(out, below)
	create()
	defer remove()
	after := must.Get(listing.ExpandInputs(t.Context(), a, strings.Fields(args)))(t)
	if taken := !slices.Equal(after.Paths(), list.Paths()); err != nil && !chunkiotest.IsUsage(err) || taken != (err != nil) {
		t.Errorf("%s to %s, a folder %v: %v; the next time the input is %q", args, out, isFolder, err, after.Paths())
	}
	return err != nil
}

// firstMissing is the outermost part of a path that is not there.
func firstMissing(path string) string {
	for at := range len(path) {
		if path[at] == '/' && at > 0 {
			if _, err := os.Stat(path[:at]); err != nil {
				return path[:at]
			}
		}
	}
	return path
}

// resultBytes are possible contents of an output of this name: data, or a result that is no data.
func resultBytes(name string) []byte {
	if strings.HasSuffix(name, ".json") || strings.HasSuffix(name, ".ufs") {
		return []byte("{\n  \"schema\": \"ufs-stream/selection/v1\"\n}\n")
	}
	return []byte("PAR1")
}

// TestOutputsAreNoInput: an output below a folder of the input that would be read as input is refused.
func TestOutputsAreNoInput(t *testing.T) {
	chunkiotest.WriteTree(t, "d/a.csv", "d/_m.csv", "d/sub/c.parquet", "only/x/a.csv", "only/_y/b.csv", "link -> d", "d/out -> ../free", "free/readme")
	formattest.Must(t, os.WriteFile("list", []byte("only\nd/a.csv\n"), 0o600))
	a, refused := opening.NewAccess(settings.WithDefaults(settings.Options{})), 0
	for _, args := range []string{
		"d", "./d/", "link", ".", "@list", "only", "d/a.csv", "d/*", "d/*.csv", "d/**", "**", "only/*", "only/*/", "{d,only}/*", "d/_*.csv d", "only/_*",
	} {
		for _, out := range []string{
			"d/n", "d/n.parquet", "d/N.CSV.GZ", "d/n.json", "d/n.ufs", "d/n.txt", "d/n.pq", "d/_n.parquet", "d/.n.parquet", "d/sub/n.parquet", "d/_s/n.parquet", "d/.s/n", "d/out/n.parquet",
			"link/n.parquet", "link/../n.parquet", "only/../d/n.csv", "n.parquet", "dd/n.parquet", "only/n.parquet", "only/x/n", "only/_y/n.parquet", "only/z/n.arrow",
		} {
			for _, isFolder := range []bool{false, true} {
				made := out
				if isFolder {
					made += "/in/n.parquet"
				}
				first := firstMissing(made)
				if takenLaw(t, a, args, out, isFolder, func() {
					formattest.Must(t, os.MkdirAll(made[:strings.LastIndexByte("/"+made, '/')]+".", 0o700))
					formattest.Must(t, os.WriteFile(made, resultBytes(made), 0o600))
				}, func() { formattest.Must(t, os.RemoveAll(first)) }) {
					refused++
				}
			}
		}
	}
	if refused < 100 {
		t.Errorf("%d outputs are refused", refused)
	}
}

// TestObjectsAreNoInput is TestOutputsAreNoInput for keys.
func TestObjectsAreNoInput(t *testing.T) {
	s := storetest.S3(t)
	for _, key := range []string{"d/a.csv", "d/sub/c.parquet", "only/x/a.csv", "only/_y/b.csv"} {
		s.PutObject(key, []byte("x"))
	}
	a, refused := opening.NewAccess(settings.WithDefaults(settings.Options{})), 0
	for _, args := range []string{"d", "", "d/*", "**", "only/*", "d/sub/c.parquet"} {
		for _, out := range []string{"d", "d/n.parquet", "d/n.ufs", "d/_n.parquet", "dd/n.parquet", "only/x/n", "only/_y/n.parquet"} {
			for _, isFolder := range []bool{false, true} {
				made := out
				if isFolder {
					made += "/in/n.parquet"
				} else if out == "d" {
					continue
				}
				first := firstMissing(filepath.Join(s.Dir, made))
				if takenLaw(t, a, s.URL(args), s.URL(out), isFolder, func() { s.PutObject(made, resultBytes(made)) }, func() { formattest.Must(t, os.RemoveAll(first)) }) {
					refused++
				}
			}
		}
		if list := must.Get(listing.ExpandInputs(t.Context(), a, []string{s.URL(args)}))(t); list.CheckOutput("d/n.parquet", nil) != nil {
			t.Errorf("%s takes a local file", s.URL(args))
		}
	}
	if refused < 20 {
		t.Errorf("%d outputs are refused", refused)
	}
}

// TestOutputOfManyIsAFolder: a file in the place of the output folder is refused before anything is written.
func TestOutputOfManyIsAFolder(t *testing.T) {
	chunkiotest.WriteTree(t, "a.csv", "b.csv", "d/c.csv", "file")
	for _, c := range []struct{ inputs, paths, out, says string }{
		{"a.csv b.csv", "a.csv b.csv", "file", "as OUT.arrow"},
		{"a.csv b.csv", "a.csv b.csv", os.DevNull, "as OUT.arrow"},
		{"d", "d/c.csv", "file", "name a new folder"},
	} {
		_, err := chooseLayout(t.Context(), opening.NewAccess(settings.Options{}), strings.Fields(c.inputs), listing.NewLocalList(strings.Fields(c.paths)), c.out, FormArrow)
		if !chunkiotest.IsUsage(err) || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), c.out) {
			t.Errorf("%s to %s: %v", c.inputs, c.out, err)
		}
	}
}
