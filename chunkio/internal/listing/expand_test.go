package listing_test

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
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

func expand(t *testing.T, args string) ([]string, error) {
	list, err := listing.ExpandInputs(t.Context(), opening.NewAccess(settings.WithDefaults(settings.Options{})), strings.Fields(args))
	if err != nil {
		return nil, err
	}
	return list.Paths(), nil
}

func TestExpand(t *testing.T) {
	chunkiotest.WriteTree(t, "b.parquet", "a.parquet", "c[1].parquet", "c1.parquet", "notes.txt",
		"d/x.arrow", "d/y.feather", "d/z.ipc", "d/readme.md", "d/_tmp.parquet", "d/.hidden.parquet",
		"d/sub/w.PARQUET", "d/_delta/v.parquet", "h/year=2/p.parquet", "h/year=1/p.parquet", "h/_SUCCESS")
	lists := map[string]string{
		"list":  "# two\n\nb.parquet\n  d  \n",
		"globs": "\ufeff[ab].parquet\n", // with a byte order mark
	}
	for name, content := range lists {
		formattest.Must(t, os.WriteFile(name, []byte(content), 0o600))
	}
	inD := "d/sub/w.PARQUET d/x.arrow d/y.feather d/z.ipc"
	for _, c := range []struct{ args, want string }{
		{"-", "-"},
		{"b.parquet a.parquet", "a.parquet b.parquet"},
		{"./a.parquet", "./a.parquet"},
		{"notes.txt", "notes.txt"}, // its first bytes show its format
		{"*.parquet", "a.parquet b.parquet c1.parquet c[1].parquet"},
		{"{a,b}.parquet", "a.parquet b.parquet"},
		{"c[1].parquet", "c[1].parquet"}, // the exact name wins
		{"d", inD},
		{"d/", inD},
		{"d/**/*.arrow", "d/x.arrow"},
		{"**/p.parquet", "h/year=1/p.parquet h/year=2/p.parquet"},
		{"h/year=*", "h/year=1/p.parquet h/year=2/p.parquet"},
		{"d/*.parquet d/x.arrow", "no file matches"},
		{"d/_*.parquet", "d/_tmp.parquet"},
		{"@list", "b.parquet " + inD},
		{"@globs", "a.parquet b.parquet"},
	} {
		got, err := expand(t, c.args)
		if err != nil {
			if !chunkiotest.IsData(err) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %s", c.args, err, c.want)
			}
			continue
		}
		if !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("%s: got %v, want %s", c.args, got, c.want)
		}
	}
}

// TestExpandBehindLinks: below a link to a folder, .. is not the folder that contains the link.
func TestExpandBehindLinks(t *testing.T) {
	chunkiotest.WriteTree(t, "else/sub/k.csv", "else/d/x.csv", "d/y.csv", "link -> else/sub", "x/up -> ../d")
	full := must.Get(filepath.EvalSymlinks(must.Get(os.Getwd())(t)))(t)
	formattest.Must(t, os.WriteFile("list", []byte("link/../d\n"), 0o600))
	for args, want := range map[string]string{
		"link/../d": "else/d/x.csv", "link/../d/": "else/d/x.csv", "link/../d/*": "else/d/x.csv", "link/../d/x.csv": "else/d/x.csv", "@list": "else/d/x.csv",
		"link/..": "else/d/x.csv else/sub/k.csv", "link/../../d": "d/y.csv", "x/up/../else/d": "else/d/x.csv", full + "/link/../d": full + "/else/d/x.csv",
		"file://" + full + "/link/../d": full + "/else/d/x.csv",
		"else/../d":                     "d/y.csv", "./else/../d/y.csv": "./else/../d/y.csv", // as they are: nothing else is meant
	} {
		if got, err := expand(t, args); err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %q, %v; want %s", args, got, err, want)
		}
	}
	for _, args := range []string{"link/../none", "none/../d", "../..//../none/x.csv"} {
		if got, err := expand(t, args); !chunkiotest.IsData(err) {
			t.Errorf("%s: %q, %v; want a data error", args, got, err)
		}
	}
}

func TestExpandRefuses(t *testing.T) {
	chunkiotest.WriteTree(t, "a.parquet", "link.parquet -> a.parquet", "empty/notes.txt", "blank")
	formattest.Must(t, os.WriteFile("blank", []byte("# nothing\n"), 0o600))
	for _, c := range []struct {
		args  string
		usage bool
		words string
	}{
		{"", true, "no input"},
		{"- a.parquet", true, "standard input"},
		{"s4://bucket/a.parquet", true, "unknown kind of URL; did you mean"},
		{"[a.parquet", true, "malformed"},
		{"missing.parquet", false, "missing.parquet"},
		{"no*.parquet", false, "no file matches"},
		{"empty", false, "no data files"},
		{"@blank", false, "names no file"},
		{"@missing", false, "missing"},
		{"a.parquet a.parquet", false, "twice"},
		{"a.parquet ./a.parquet", false, "same file"},
		{"a.parquet link.parquet", false, "same file"},
	} {
		_, err := expand(t, c.args)
		if err == nil || chunkiotest.IsUsage(err) != c.usage || chunkiotest.IsData(err) == c.usage || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%q: error %v, want one of usage %v about %q", c.args, err, c.usage, c.words)
		}
	}
}
