package intake

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"errors"
	"io"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// compressedMembers returns the members of a compressed file, and the contents of each.
func compressedMembers(t *testing.T) map[string][2][]byte {
	t.Helper()
	gz := func(s string) []byte {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Name, w.Comment, w.Extra = "part-1.csv", "of two", []byte("extra")
		must.Get(w.Write([]byte(s)))(t)
		must.Do(t, w.Close())
		return b.Bytes()
	}
	zst := func(s string) []byte {
		return must.Get(zstd.NewWriter(nil))(t).EncodeAll([]byte(s), nil)
	}
	// bz2.compress(b"a,b\n1,2\n") of Python, and of b"3,4\n".
	bz := [2][]byte{
		must.Get(hex.DecodeString("425a6839314159265359bf87407f00000359000010000430003000200030c00869b28823278bb9229c28485fc3a03f80"))(t),
		must.Get(hex.DecodeString("425a68393141592653592d9fe7360000015800001000040c002000219a68334d173c5dc914e14240b67f9cd8"))(t),
	}
	return map[string][2][]byte{"gz": {gz("a,b\n1,2\n"), gz("3,4\n")}, "zst": {zst("a,b\n1,2\n"), zst("3,4\n")}, "bz2": bz}
}

// TestCutMembers: of a file of two members, every beginning that does not end with a member is an error.
func TestCutMembers(t *testing.T) {
	for packing, m := range compressedMembers(t) {
		both := bytes.Join(m[:], nil)
		for n := len(m[0]); n <= len(both); n++ {
			r, err := Unpack(bytes.NewReader(both[:n]), packing)
			if err != nil {
				t.Errorf("%s: the first %d bytes of %d: %v", packing, n, len(both), err)
				continue
			}
			got, err := io.ReadAll(r)
			want := map[int]string{len(m[0]): "a,b\n1,2\n", len(both): "a,b\n1,2\n3,4\n"}[n]
			switch {
			case want == "" && !errors.Is(err, io.ErrUnexpectedEOF):
				t.Errorf("%s: the first %d bytes of %d, the first member has %d: got %q, %v; want %v", packing, n, len(both), len(m[0]), got, err, io.ErrUnexpectedEOF)
			case want != "" && (err != nil || string(got) != want):
				t.Errorf("%s: the first %d bytes of %d: got %q, %v; want %q", packing, n, len(both), got, err, want)
			}
		}
	}
}
