package formats

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/intake"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/ipc"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet"
)

type input struct {
	*strings.Reader
	name string
}

func (i input) Name() string { return i.name }
func (input) Close() error   { return nil }

// TestList: each format is read in exactly one way, and no ending or word belongs to two.
func TestList(t *testing.T) {
	owner := map[string]*Format{}
	for _, f := range AllFormats() {
		ways := 0
		for _, way := range []bool{f.Open != nil, f.Rows != intake.None, f.Parse != nil} {
			if way {
				ways++
			}
		}
		if ways != 1 || f.Name == "" || len(f.Endings) == 0 && f.Begins == "" {
			t.Errorf("%q is read in %d ways and has the endings %q, want one way and a sign", f.Name, ways, f.Endings)
		}
		for _, sign := range append([]string{f.Magic, f.Begins}, f.Endings...) {
			if owner[sign] != nil && sign != "" {
				t.Errorf("%q is a sign of %s and of %s", sign, f.Name, owner[sign].Name)
			}
			owner[sign] = f
		}
	}
}

// TestDetect: bytes that prove a format count more than the name, the name more than the shape of the lines.
func TestDetect(t *testing.T) {
	const lines = "a,b\n1,2\n3,4\n"
	matrix := "%%MatrixMarket matrix array real general\n1 1\n1\n"
	for _, c := range []struct {
		file, text, want, packing string
		guess                     bool
	}{
		{"a", parquet.Magic, "Parquet", "", false},
		{"a", parquet.EncryptedMagic, "Parquet", "", false},
		{"a.csv", ipc.StreamMagic, "Arrow", "", false},
		{"a", intake.NPYMagic + "\x01\x00", "NumPy arrays", "", false},
		{"a", intake.AvroMagic, "Avro", "", false},
		{"a", zip(t, intake.AvroMagic), "Avro", "gz", false},
		{"a", lines, "CSV", "", true},
		{"a", zip(t, lines), "CSV", "gz", true},
		{"a.tsv", lines, "CSV", "", false},
		{"a.NDJSON.gz", zip(t, lines), "NDJSON", "gz", false},
		{"a.svm", lines, "libsvm", "", false},
		{"a.libsvm.zst", zip(t, "1 1:2\n"), "libsvm", "gz", false},
		{"a.parquet", lines, "CSV", "", true}, // opening says that it is no Parquet file
		{"a.parquet.gz", zip(t, lines), "CSV", "gz", true},
		{"matrix", matrix, "Matrix Market", "", false},
		{"matrix", zip(t, matrix), "Matrix Market", "gz", false},
		{"matrix.csv", matrix, "Matrix Market", "", false},
		{"a.MTX.gz", zip(t, "1\n"), "Matrix Market", "gz", false},
		{"a", "hello\n", "", "", false},
		{"a.txt", "", "", "", false},
	} {
		in := input{strings.NewReader(c.text), c.file}
		f, packing, guess, err := DetectFormat(in, c.text[:min(len(c.text), 16)], ByName(c.file))
		name := ""
		if f != nil {
			name = f.Name
		}
		if err != nil || name != c.want || packing != c.packing || guess != c.guess {
			t.Errorf("%s, %.20q: format %q, packing %q, guess %v, error %v; want %q, %q, %v", c.file, c.text, name, packing, guess, err, c.want, c.packing, c.guess)
		}
	}
	short := input{strings.NewReader("a,b\n"), "a"}
	if _, _, _, err := DetectFormat(shorterInput{short}, "a,b\n", nil); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a file that becomes shorter: error %v, want %v", err, io.ErrUnexpectedEOF)
	}
}

type shorterInput struct{ input }

func (shorterInput) Size() int64 { return 1000 }

func zip(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := io.WriteString(w, text)
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatalf("compressing: %v", err)
	}
	return b.String()
}
