package store

import (
	"bytes"
	"context"
	"math/rand/v2"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/must"
	"github.com/ufs-stream/ufs-stream/internal/store/storetest"
)

// noise is bytes that no two places have in common.
func noise(n int64, seed uint64) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)}).Read(b)
	return b
}

func at(t testing.TB, url string) Location {
	t.Helper()
	return must.Get(Parse(url))(t)
}

func TestFirst(t *testing.T) {
	s := storetest.S3(t)
	c := New(Options{})
	ctx := context.Background()
	for _, n := range []int64{0, 1, 1000, 40 << 20} {
		l := at(t, s.URL("a/b c+d.bin"))
		want := noise(n, 1)
		must.Do(t, c.CanUpload(ctx, l))
		must.Do(t, c.Upload(ctx, l, bytes.NewReader(want), n))
		o := must.Get(c.Stat(ctx, l))(t)
		var got bytes.Buffer
		must.Do(t, c.Download(ctx, o, &got))
		if !bytes.Equal(got.Bytes(), want) || o.Size != n {
			t.Fatal(n, o.Size, got.Len())
		}
		for o, err := range c.List(ctx, at(t, s.URL("a"))) {
			t.Log(o, err)
		}
	}
	_, err := c.Stat(ctx, at(t, s.URL("a/none")))
	t.Log(err)
	l := at(t, s.URL("a/none"))
	l.Bucket = "nobucket"
	_, err = c.Stat(ctx, l)
	t.Log(err)
	t.Log(c.Delete(ctx, l))
	t.Log(c.Delete(ctx, at(t, s.URL("a/none"))))
	t.Log(c.Upload(ctx, l, bytes.NewReader(nil), 0))
	t.Log(c.CanUpload(ctx, l))
	t.Setenv("AWS_SECRET_ACCESS_KEY", "wrongwrongwrongwrong")
	_, err = New(Options{}).Stat(ctx, at(t, s.URL("a/none")))
	t.Log(err)
	_, err = New(Options{Anonymous: true}).Stat(ctx, at(t, s.URL("a/none")))
	t.Log(err)
	t.Setenv("AWS_ACCESS_KEY_ID", "wrongwrongwrongwrong")
	_, err = New(Options{}).Stat(ctx, at(t, s.URL("a/none")))
	t.Log(err)
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	_, err = New(Options{}).Stat(ctx, at(t, s.URL("a/none")))
	t.Log(err)
}
